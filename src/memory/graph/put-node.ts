import { canonicalJson } from '#lib/json.ts'
import { foreign } from '../access/caller.ts'
import { isPrivate, mergedScopes, seenByAllOf } from '../scopes.ts'
import { isVisible, isVisibilityScope } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { addVersion, endVersion, replaceVersion, versionsOf } from './graph.ts'
import type { Graph, NodeVersion, Tracked } from './graph.ts'

/** What is said about an entity at a moment. */
export interface NodeWrite {
  key: string
  kind: string
  /** Whether the kind was said or only guessed from the key. */
  kindGiven: boolean
  title: string | undefined
  /** A null takes a property away. */
  properties: Readonly<Record<string, unknown>>
  aliases: readonly string[]
  scopes: readonly string[]
  /** From when on it holds. */
  at: string
  /** Whether saying it again is worth noting as the last sight of the entity. */
  isSighting: boolean
  sourcePath?: string | null
  observationId?: string | null
  provenance?: Record<string, unknown> | null
  confidence?: number | null
}

export interface NodeResult {
  changed: boolean
  warning?: string
}

/**
 * Adds what is said about an entity to its history: from `at` on, until the next thing known, it has
 * these properties besides those it had; later versions get what they do not say themselves. So the
 * state at any moment does not depend on the order of arrival.
 *
 * Throws `permission_denied` when the entity is invisible to the writer.
 */
export function putNode(graph: Graph, write: NodeWrite, writer: Audience): NodeResult {
  const line = lineOf(graph, write)
  const current = line.find(holds(write.at)) ?? line.at(-1)
  if (current && !isVisible(current.row.scopes, writer)) throw foreign()
  const isShared =
    current !== undefined && !isPrivate(current.row.scopes) && !current.row.placeholder
  if (isShared && isPrivate(write.scopes)) {
    return { changed: false, warning: `"${write.key}" is shared: it was left as it is` }
  }
  const changed = putVersion(graph, line, write)
  const widened = current && !current.row.placeholder && write.scopes.some(isVisibilityScope)
  return widened && !seenByAllOf(current.row.scopes, write.scopes)
    ? { changed, warning: `"${write.key}" is seen by more than this observation` }
    : { changed }
}

/** The history of an entity: of the kind said, else of the kind it has. */
function lineOf(graph: Graph, { key, kind }: NodeWrite): Tracked<NodeVersion>[] {
  const versions = versionsOf(graph, key)
  const same = versions.filter(({ row }) => row.kind === kind)
  if (same.length > 0) return same
  const latest = versions.at(-1)?.row.kind
  return versions.filter(({ row }) => row.kind === latest)
}

function putVersion(graph: Graph, line: Tracked<NodeVersion>[], write: NodeWrite): boolean {
  const { at } = write
  const later = line.filter(({ row }) => row.validFrom > at)
  const base = line.find(holds(at))
  const until = base ? base.row.validTo : (later[0]?.row.validFrom ?? null)
  const next = stateAfter(base?.row ?? inheritedFrom(later[0]?.row), write)
  const changed = !base || !sameState(base.row, next)
  if (!base) addVersion(graph, { ...next, validFrom: at, validTo: until, termCount: 0 })
  else if (!changed) touch(base, write)
  else if (base.row.validFrom === at) replaceVersion(graph, base, next)
  else {
    endVersion(graph, base, at)
    addVersion(graph, { ...next, validFrom: at, validTo: until, termCount: 0 })
  }
  const filled = later.filter((version) => fillUnder(graph, version, write))
  return changed || filled.length > 0
}

type State = Omit<NodeVersion, 'item' | 'validFrom' | 'validTo' | 'termCount'>

/** What the entity is after the write, given what it was. Nothing private is carried into the open. */
function stateAfter(base: NodeVersion | undefined, write: NodeWrite): State {
  const keeps = base && (!isPrivate(base.scopes) || isPrivate(write.scopes))
  const before = keeps ? base : blank(write.key)
  return {
    ...saidOnce(before, write),
    key: write.key,
    kind: kindAfter(base, write),
    title: write.title?.trim() ? write.title : before.title,
    properties: withoutNulls({ ...before.properties, ...write.properties }),
    aliases: [...new Set([...before.aliases, ...write.aliases])],
    origin: base?.origin ?? 'agent',
    placeholder: false,
    scopes: scopesAfter(base, write),
    lastSeen: base && base.lastSeen > write.at ? base.lastSeen : write.at,
  }
}

type Once = Pick<State, 'sourcePath' | 'observationId' | 'provenance' | 'confidence'>

function saidOnce(before: Once, write: NodeWrite): Once {
  return {
    sourcePath: write.sourcePath ?? before.sourcePath,
    observationId: write.observationId ?? before.observationId,
    provenance: write.provenance ?? before.provenance,
    confidence: write.confidence ?? before.confidence,
  }
}

function blank(key: string): Once & Pick<State, 'title' | 'properties' | 'aliases'> {
  const once = { sourcePath: null, observationId: null, provenance: null, confidence: null }
  return { ...once, title: key, properties: {}, aliases: [] }
}

/** The kind that a source gave stays; a guessed one gives way. */
function kindAfter(base: NodeVersion | undefined, { kind, kindGiven }: NodeWrite): string {
  return base && (!kindGiven || base.origin === 'snapshot') ? base.kind : kind
}

function scopesAfter(base: NodeVersion | undefined, write: NodeWrite): string[] {
  if (!base) return [...write.scopes]
  const opens = isPrivate(base.scopes) && !isPrivate(write.scopes)
  return opens || (base.placeholder && !isPrivate(write.scopes) && isWide(write.scopes))
    ? [...write.scopes]
    : mergedScopes(base.scopes, write.scopes)
}

function isWide(scopes: readonly string[]): boolean {
  return !scopes.some(isVisibilityScope)
}

/** An entity told of for a time before all we know keeps its kind, place and audience, nothing else. */
function inheritedFrom(later: NodeVersion | undefined): NodeVersion | undefined {
  return later && { ...later, title: later.key, properties: {}, aliases: [], confidence: null }
}

/** Gives a later version what it does not say itself; true when that changed it. */
function fillUnder(graph: Graph, version: Tracked<NodeVersion>, write: NodeWrite): boolean {
  const { row } = version
  if (isPrivate(write.scopes) && !isPrivate(row.scopes)) return false
  const properties = { ...withoutNulls(write.properties), ...row.properties }
  const title = row.title === row.key && write.title?.trim() ? write.title : row.title
  const aliases = [...new Set([...row.aliases, ...write.aliases])]
  const grown =
    title !== row.title ||
    aliases.length > row.aliases.length ||
    Object.keys(properties).length > Object.keys(row.properties).length
  if (!grown && !row.placeholder) return false
  const kind = row.placeholder ? kindAfter(row, write) : row.kind
  replaceVersion(graph, version, { kind, properties, title, aliases, placeholder: false })
  return true
}

function touch(version: Tracked<NodeVersion>, { at, isSighting }: NodeWrite): void {
  if (!isSighting || at <= version.row.lastSeen) return
  version.row.lastSeen = at
  if (version.fate === 'stored') version.fate = 'changed'
}

function holds(at: string) {
  return ({ row }: Tracked<NodeVersion>) =>
    row.validFrom <= at && (row.validTo === null || row.validTo > at)
}

function sameState(a: NodeVersion, b: State): boolean {
  return fingerprint(a) === fingerprint(b)
}

function fingerprint(state: State): string {
  const { kind, title, properties, aliases, sourcePath, confidence, placeholder, scopes } = state
  return canonicalJson([
    [kind, title, sourcePath, confidence, placeholder],
    [properties, aliases.toSorted(), scopes.toSorted()],
  ])
}

function withoutNulls(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null))
}
