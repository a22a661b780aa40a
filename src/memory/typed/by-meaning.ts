import type { Sql } from '#db/sql.ts'
import type { Indexes } from '../index/indexes.ts'
import type { Meaning } from '../vectors/meaning.ts'
import type { Item, Ranked } from '../recall/item.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { understand } from '../recall/query.ts'
import { rank } from '../recall/rank.ts'
import type { Reader } from '../recall/reader.ts'
import { selectResolved } from '../recall/resolve.sql.ts'
import type { ResolvedRow } from '../recall/resolve.sql.ts'
import { satisfies } from '../where.ts'
import type { Test } from '../where.ts'
import { anchorEntity } from './anchors.ts'
import type { Anchor, Match, Resolved } from './anchors.ts'
import { entityIdOf } from './found.ts'
import { stateColumns } from './state.sql.ts'
import type { EntityState } from './state.sql.ts'

export interface MeaningQuery {
  namespaces: readonly NamespaceRow[]
  reader: Reader
  tests: readonly Test[]
  /** How many entities an anchor may stand for. */
  k: number
  indexes: Indexes
  meaning: Meaning | undefined
  now: Date
}

/** Candidates looked at for each entity wanted: conditions and kinds rule some out. */
const LOOKED_AT = 8

/**
 * What anchors that nothing is called by are most like, by the entities themselves or by a text of theirs:
 * conclusions of ours, not names that anybody gave.
 */
export async function resolveByMeaning(
  sql: Sql,
  anchors: readonly Anchor[],
  query: MeaningQuery,
): Promise<Resolved[]> {
  const { namespaces, reader, k } = query
  const rankings = await Promise.all(anchors.map((anchor) => mostAlike(sql, anchor, query)))
  const spaces = new Map(namespaces.map((namespace) => [namespace.namespace, namespace]))
  const names = rankings
    .flat()
    .flatMap(({ item: { nodeKey } }) => nodeKey ?? [])
    .map((value) => ({ value, kind: null }))
  const rows =
    names.length === 0
      ? []
      : await selectResolved<EntityState>(
          sql,
          { namespaceIds: namespaces.map(({ id }) => id), reader, names, limit: k + 1 },
          stateColumns(sql, reader),
        )
  const states = Map.groupBy(
    rows.filter(({ by }) => by === 'key'),
    ({ namespaceId, key }) => `${namespaceId}\n${key}`,
  )
  return anchors.map((anchor, index) =>
    matched(anchor, rankings[index] ?? [], { query, spaces, states }),
  )
}

async function mostAlike(
  sql: Sql,
  anchor: Anchor,
  { namespaces, reader, k, indexes, meaning, now }: MeaningQuery,
): Promise<Ranked[]> {
  const { ranking } = await rank(sql, {
    namespaces,
    reader,
    query: understand(anchor.value),
    kinds: ['entity', 'chunk'],
    channels: new Set(['vector']),
    anchors: [],
    scopes: [],
    indexes,
    meaning,
    reranking: undefined,
    pool: LOOKED_AT * k,
    now,
  })
  return ranking
}

interface Known {
  query: MeaningQuery
  spaces: ReadonlyMap<string, NamespaceRow>
  states: ReadonlyMap<string, readonly (ResolvedRow & EntityState)[]>
}

function matched(anchor: Anchor, ranking: readonly Ranked[], known: Known): Resolved {
  const { tests, k } = known.query
  const filtered = new Set<string>()
  const found = new Map<string, Match>()
  for (const { item, score } of ranking) {
    const namespace = known.spaces.get(item.namespace)
    if (namespace === undefined) continue
    for (const state of statesOf(item, known)) {
      const id = entityIdOf(namespace.id, state)
      if (found.has(id) || (anchor.kind ?? state.kind) !== state.kind) continue
      if (!satisfies(state.properties, tests)) filtered.add(id)
      else {
        const entity = anchorEntity(namespace, state, 'inferred')
        found.set(id, { entity, score, matchedOn: item.kind === 'entity' ? 'entity' : 'chunk' })
      }
    }
  }
  const matches = [...found.values()].slice(0, k)
  const method = matches.length > 0 ? ('semantic' as const) : null
  return { anchor, method, matches, filtered, truncated: found.size > k }
}

function statesOf(item: Item, { spaces, states }: Known): readonly EntityState[] {
  const namespace = spaces.get(item.namespace)
  return states.get(`${namespace?.id ?? ''}\n${item.nodeKey ?? ''}`) ?? []
}
