import { canonicalJson } from '#lib/json.ts'
import { addVersion, endVersion, replaceVersion, versionsWithin } from './graph.ts'
import type { Graph, NodeVersion, Tracked } from './graph.ts'
import { inheritedFrom, kindAfter, sameState, stateAfter, withoutNulls } from './node-state.ts'
import type { NodeWrite } from './node-state.ts'
import {
  contentOf,
  heldBy,
  joinedSaid,
  noted,
  saidAfter,
  splitSaid,
  statementsOf,
  toldAtStart,
} from './said.ts'
import type { Said, Statements } from './said.ts'

/** The history of an entity: of the kind said, else of the kind it has. */
export function lineOf(
  graph: Graph,
  { kind, ...known }: Pick<NodeWrite, 'key' | 'kind' | 'scopes'>,
): Tracked<NodeVersion>[] {
  const versions = versionsWithin(graph, known)
  const same = versions.filter(({ row }) => row.kind === kind)
  if (same.length > 0) return same
  const latest = versions.at(-1)?.row.kind
  return versions.filter(({ row }) => row.kind === latest)
}

/** Something told of a history. */
interface Telling {
  write: NodeWrite
  /** `said` by somebody at that moment; `inherited` from an earlier version; `restored` behind one. */
  how: 'said' | 'inherited' | 'restored'
  /** When the things restored were said. */
  said: Said
}

/**
 * Adds what is said to a history: from `at` on, each name as far as nothing else is said under it. True
 * when that changed anything.
 */
export function putVersion(
  graph: Graph,
  line: readonly Tracked<NodeVersion>[],
  write: NodeWrite,
): boolean {
  const said = noted({}, statementsOf(write), write.at)
  return tell(graph, line, { write, how: 'said', said })
}

function tell(graph: Graph, line: readonly Tracked<NodeVersion>[], telling: Telling): boolean {
  const { at } = telling.write
  const base = line.find(holds(at))
  const later = line.filter(({ row }) => row.validFrom > at)
  return base ? changeAt(graph, { base, later, telling }) : openAt(graph, later, telling)
}

interface Place {
  base: Tracked<NodeVersion>
  later: readonly Tracked<NodeVersion>[]
  telling: Telling
}

function changeAt(graph: Graph, { base, later, telling }: Place): boolean {
  const { write, how } = telling
  const held = { ...base.row }
  const statements = statementsOf(write)
  const next = how === 'inherited' ? inheritedState(held, write) : stateAfter(held, write)
  if (sameState(held, next)) {
    if (how === 'said') touch(base, write, statements)
    return false
  }
  const other = [...statements].filter(([name, value]) => !isSame(heldBy(held, name), value))
  const lasting = new Map(statements)
  replaceFrom(graph, base, { next, telling, changed: new Set(other.map(([name]) => name)) })
  for (const [name] of other) {
    // Said again later in this version: from there on it is as it was.
    const from = saidAfter(held.said, name, write.at)
    if (from === undefined) continue
    lasting.delete(name)
    restore(graph, held, { name, from, telling, kind: next.kind })
  }
  passOn(graph, { later, until: held.validTo, statements: lasting, write })
  return true
}

function restore(
  graph: Graph,
  held: NodeVersion,
  { name, from, telling, kind }: { name: string; from: string; telling: Telling; kind: string },
): void {
  const told = contentOf(new Map([[name, heldBy(held, name)]]))
  const times = held.said[name]?.filter((time) => time >= from) ?? []
  tell(graph, lineOf(graph, { key: held.key, scopes: held.scopes, kind }), {
    write: { ...telling.write, ...told, kind, aliases: [], at: from },
    how: 'restored',
    said: { [name]: times },
  })
}

function openAt(
  graph: Graph,
  later: readonly Tracked<NodeVersion>[],
  { write, said }: Telling,
): boolean {
  const [first] = later
  const until = first?.row.validFrom ?? null
  addVersion(graph, {
    ...stateAfter(inheritedFrom(first?.row), write),
    said,
    validFrom: write.at,
    validTo: until,
    termCount: 0,
  })
  passOn(graph, { later, until, statements: statementsOf(write), write })
  return true
}

type State = ReturnType<typeof stateAfter>

/** The version holds the new state from `at` on; what else was said in it stays said. */
function replaceFrom(
  graph: Graph,
  base: Tracked<NodeVersion>,
  { next, telling, changed }: { next: State; telling: Telling; changed: ReadonlySet<string> },
): void {
  const { at } = telling.write
  const { validFrom, validTo, said } = base.row
  const from = validFrom === at ? said : splitSaid(said, at).after
  const kept = Object.fromEntries(Object.entries(from).filter(([name]) => !changed.has(name)))
  const state = { ...next, said: joinedSaid(kept, telling.said) }
  if (validFrom === at) {
    replaceVersion(graph, base, state)
    return
  }
  endVersion(graph, base, at)
  addVersion(graph, { ...state, validFrom: at, validTo, termCount: 0 })
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null)
}

interface Passing {
  later: readonly Tracked<NodeVersion>[]
  /** Where the version written to ends. */
  until: string | null
  statements: Statements
  write: NodeWrite
}

/** The next version inherits what was said, each name as far as nothing else was said under it. */
function passOn(graph: Graph, { later, until, statements, write }: Passing): void {
  const [base, ...rest] = later
  // Nothing follows, or the entity had ended in between.
  if (!base || base.row.validFrom !== until) return
  const open = new Map([...statements].filter(([name]) => !toldAtStart(base.row, name)))
  if (open.size === 0 && write.aliases.length === 0 && !base.row.placeholder) return
  const inherited = { ...write, ...contentOf(open), at: base.row.validFrom }
  const telling: Telling = { write: inherited, how: 'inherited', said: {} }
  changeAt(graph, { base, later: rest, telling })
}

/** Title, properties and names come from before; all else is the version's own. */
function inheritedState(row: NodeVersion, write: NodeWrite): NodeVersion {
  return {
    ...row,
    kind: row.placeholder ? kindAfter(row, write) : row.kind,
    title: write.title ?? row.title,
    properties: withoutNulls({ ...row.properties, ...write.properties }),
    aliases: [...new Set([...row.aliases, ...write.aliases])],
    placeholder: false,
  }
}

function touch(
  version: Tracked<NodeVersion>,
  { at, isSighting }: NodeWrite,
  statements: Statements,
): void {
  if (!isSighting) return
  const { row } = version
  if (at > row.lastSeen) row.lastSeen = at
  row.said = noted(row.said, statements, at)
  if (version.fate === 'stored') version.fate = 'changed'
}

export function holds(at: string) {
  return ({ row }: Tracked<NodeVersion>) =>
    row.validFrom <= at && (row.validTo === null || row.validTo > at)
}
