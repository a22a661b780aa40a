import type { Sql } from '#db/sql.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import type { Reader } from './reader.ts'
import { selectResolved } from './resolve.sql.ts'
import type { ResolvedBy, ResolvedRow } from './resolve.sql.ts'

const MAX_NAMES = 40
const MAX_NAME_CHARS = 300
const MAX_RESOLVED = 20
const PER_NAME = 10

export interface ResolvedEntity {
  namespace: NamespaceRow
  item: string
  /** The entity's key. */
  nodeKey: string
  /** By its whole name, or by the end of it. */
  how: 'exact' | 'suffix'
}

/** What became of one name, as it is reported. */
export interface ResolutionReport {
  input: string
  matched_by: ResolvedBy | null
  keys: string[]
  truncated: boolean
}

export interface Resolution {
  /** Exact ones first, at most 20. */
  entities: ResolvedEntity[]
  report: ResolutionReport[]
}

const STEPS: readonly ResolvedBy[] = ['key', 'alias', 'placeholder', 'suffix']

/**
 * The entities that names stand for. For each name the first way that finds anything counts: its key,
 * an alias, the key with its placeholders unnamed, the end of a key.
 */
export async function resolveNames(
  sql: Sql,
  namespaces: readonly NamespaceRow[],
  reader: Reader,
  names: readonly string[],
): Promise<Resolution> {
  const asked = [...new Set(names)]
    .filter((name) => name !== '' && name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_NAMES)
  if (asked.length === 0 || namespaces.length === 0) return { entities: [], report: [] }
  const spaces = new Map(namespaces.map((namespace) => [namespace.id, namespace]))
  const rows = await selectResolved(sql, {
    namespaceIds: [...spaces.keys()],
    reader,
    names: asked.map((value) => ({ value, kind: null })),
    limit: PER_NAME + 1,
  })
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  const entities: ResolvedEntity[] = []
  const report = asked.map((input, place) => {
    const found = byPlace.get(place) ?? []
    const by = STEPS.find((step) => found.some((row) => row.by === step)) ?? null
    const matching = found.filter((row) => row.by === by)
    const chosen = matching.slice(0, PER_NAME)
    for (const row of chosen) {
      const namespace = spaces.get(row.namespaceId)
      if (namespace) entities.push(entityOf(namespace, row))
    }
    return {
      input,
      matched_by: by,
      keys: chosen.map(({ key }) => key),
      truncated: matching.length > PER_NAME,
    }
  })
  return { entities: exactFirst(entities), report }
}

function entityOf(namespace: NamespaceRow, row: ResolvedRow): ResolvedEntity {
  const how = row.by === 'suffix' ? 'suffix' : 'exact'
  return { namespace, item: row.item, nodeKey: row.key, how }
}

/** Each entity once, by its best way. */
function exactFirst(entities: readonly ResolvedEntity[]): ResolvedEntity[] {
  const once = new Map<string, ResolvedEntity>()
  const ordered = [
    ...entities.filter(({ how }) => how === 'exact'),
    ...entities.filter(({ how }) => how === 'suffix'),
  ]
  for (const entity of ordered) {
    const key = `${entity.namespace.id}:${entity.item}`
    if (!once.has(key)) once.set(key, entity)
  }
  return [...once.values()].slice(0, MAX_RESOLVED)
}
