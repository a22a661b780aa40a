import { ANCHOR_METHODS } from '#contract/memory-typed.ts'
import type { AnchorMethod, TypedBody, TypedPack } from '#contract/memory-typed.ts'
import type { Sql } from '#db/sql.ts'
import { identifiersIn } from '../analysis/identifiers.ts'
import type { Evidence } from '../recall/bonuses.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { Reader } from '../recall/reader.ts'
import { selectResolved } from '../recall/resolve.sql.ts'
import type { Name, ResolvedBy, ResolvedRow } from '../recall/resolve.sql.ts'
import { satisfies } from '../where.ts'
import type { Test } from '../where.ts'
import { entityIdOf } from './found.ts'
import type { FoundEntity } from './found.ts'
import { stateColumns } from './state.sql.ts'
import type { EntityState } from './state.sql.ts'

export type Anchor = TypedBody['anchors'][number]
export type AnchorReport = TypedPack['anchors'][number]

/** An entity that an anchor stands for; the score and where it matched are of a semantic match. */
export interface Match {
  entity: FoundEntity
  score?: number
  matchedOn?: 'entity' | 'chunk'
}

/** What became of an anchor. */
export interface Resolved {
  anchor: Anchor
  method: AnchorMethod | null
  matches: Match[]
  /** Ids of what the conditions ruled out. */
  filtered: Set<string>
  truncated: boolean
}

export interface AnchorQuery {
  namespaces: readonly NamespaceRow[]
  reader: Reader
  anchors: readonly Anchor[]
  tests: readonly Test[]
}

const MAX_NAME_CHARS = 300
/** Entities read for each name and way, of which conditions may rule out some. */
const READ_PER_NAME = 50
/** Entities that an anchor may stand for. */
const MAX_MATCHES = 10

const EVIDENCE: Readonly<Record<AnchorMethod, Evidence>> = {
  natural_key: 'asserted',
  alias: 'asserted',
  id_pattern: 'extracted',
  normalized: 'asserted',
  suffix: 'extracted',
  semantic: 'inferred',
}

type Row = ResolvedRow & EntityState

/** A name looked up for an anchor: its own, or one that its text contains. */
interface Asked extends Name {
  anchor: number
  isOwn: boolean
}

/**
 * What each anchor stands for, by the first way that leaves something: its key, an alias, an identifier in
 * its text, its key whatever placeholders are called, the end of a key. One statement for all anchors and
 * namespaces.
 */
export async function resolveAnchors(sql: Sql, query: AnchorQuery): Promise<Resolved[]> {
  const { namespaces, reader, anchors, tests } = query
  const names = anchors.flatMap(namesOf)
  const rows =
    names.length === 0 || namespaces.length === 0
      ? []
      : await selectResolved<EntityState>(
          sql,
          {
            namespaceIds: namespaces.map(({ id }) => id),
            reader,
            names,
            limit: READ_PER_NAME + 1,
          },
          stateColumns(sql, reader),
        )
  const byAnchor = Map.groupBy(rows, ({ place }) => names[place]?.anchor ?? -1)
  const spaces = new Map(namespaces.map((namespace) => [namespace.id, namespace]))
  return anchors.map((anchor, index) => {
    const ways = Map.groupBy(byAnchor.get(index) ?? [], (row) => methodOf(row, names[row.place]))
    return firstWay(anchor, { ways, tests, spaces })
  })
}

function namesOf({ kind = null, value }: Anchor, anchor: number): Asked[] {
  const own = value.length <= MAX_NAME_CHARS ? [{ value, kind, anchor, isOwn: true }] : []
  const inside = identifiersIn(value).filter((name) => name !== value)
  return [...own, ...inside.map((name) => ({ value: name, kind, anchor, isOwn: false }))]
}

const METHOD: Readonly<Record<ResolvedBy, AnchorMethod>> = {
  key: 'natural_key',
  alias: 'alias',
  placeholder: 'normalized',
  suffix: 'suffix',
}

/** Undefined where an identifier was found in a way that only whole names may be. */
function methodOf({ by }: Row, asked: Asked | undefined): AnchorMethod | undefined {
  if (asked?.isOwn === true) return METHOD[by]
  return by === 'key' || by === 'alias' ? 'id_pattern' : undefined
}

function firstWay(
  anchor: Anchor,
  {
    ways,
    tests,
    spaces,
  }: {
    ways: ReadonlyMap<AnchorMethod | undefined, readonly Row[]>
    tests: readonly Test[]
    spaces: ReadonlyMap<string, NamespaceRow>
  },
): Resolved {
  const filtered = new Set<string>()
  for (const method of ANCHOR_METHODS) {
    const found = new Map<string, Match>()
    for (const row of ways.get(method) ?? []) {
      const namespace = spaces.get(row.namespaceId)
      const id = entityIdOf(row.namespaceId, row)
      if (namespace === undefined || found.has(id)) continue
      if (satisfies(row.properties, tests)) {
        found.set(id, { entity: anchorEntity(namespace, row, EVIDENCE[method]) })
      } else filtered.add(id)
    }
    if (found.size === 0) continue
    const matches = [...found.values()].slice(0, MAX_MATCHES)
    return { anchor, method, matches, filtered, truncated: found.size > MAX_MATCHES }
  }
  return { anchor, method: null, matches: [], filtered, truncated: false }
}

/** An entity that an anchor stands for. */
export function anchorEntity(
  namespace: NamespaceRow,
  state: EntityState,
  evidence: Evidence,
): FoundEntity {
  return { id: entityIdOf(namespace.id, state), namespace, state, evidence, anchor: true }
}

/** What became of an anchor, as it is told. */
export function reportOf({ anchor, method, matches, filtered, truncated }: Resolved): AnchorReport {
  const resolved = matches.map(({ entity, score, matchedOn }) => ({
    kind: entity.state.kind,
    key: entity.state.key,
    namespace: entity.namespace.namespace,
    evidence: entity.evidence,
    ...(score !== undefined && { score: Number(score.toFixed(6)) }),
    ...(matchedOn !== undefined && { matchedOn }),
  }))
  const isAmbiguous = matches.length > 1 && method !== 'natural_key'
  return {
    input: { kind: anchor.kind ?? null, value: anchor.value },
    resolved,
    matchedBy: method,
    ...(isAmbiguous && {
      ambiguous: true as const,
      candidates: resolved.map(({ kind, key, namespace }) => ({ kind, key, namespace })),
    }),
    ...(filtered.size > 0 && { filtered: filtered.size }),
    ...(truncated && { truncated: true as const }),
  }
}
