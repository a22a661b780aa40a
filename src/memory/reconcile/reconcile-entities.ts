import type { Sql } from '#db/sql.ts'
import { canonicalJson } from '#lib/json.ts'
import type { Catalog } from '../packs/catalog.ts'
import type { Audience } from '../visibility.ts'
import {
  closeSnapshotEntities,
  insertSnapshotEntities,
  selectOpenEntities,
  selectSourceVersions,
} from '../store/snapshot-entity.sql.ts'
import type { EndedEntity, OpenEntityRow, Opening } from '../store/snapshot-entity.sql.ts'
import { slices } from '../store/slices.ts'
import type { Namespace } from '../store/write.ts'
import { readGraph, writeGraph } from '../store/write-graph.ts'
import { mergeSources } from './merge-sources.ts'
import { putMerged } from './put-merged.ts'
import { difference, entityId } from './snapshot.ts'
import type { Difference, EntityState } from './snapshot.ts'

export type EntityDifference = Difference<EntityState, OpenEntityRow>

export interface Reconciling extends Opening {
  namespace: Namespace
  writer: Audience
  catalog: Catalog
}

/** What differs between the open entities of a source and a snapshot. */
export async function compareEntities(
  sql: Sql,
  { id, sourceNo }: Opening,
  entities: readonly EntityState[],
): Promise<{ diff: EntityDifference; wasEmpty: boolean }> {
  const open = await selectOpenEntities(sql, id, sourceNo)
  const byId = new Map(open.map((one) => [entityId(one), one]))
  return { diff: difference(byId, entities, entityId), wasEmpty: open.length === 0 }
}

/**
 * Writes the difference to the ledger of the source and brings the nodes concerned to what all sources
 * now say. Costs as much as the difference is large.
 */
export async function applyEntities(
  sql: Sql,
  run: Reconciling,
  { opened, changed, closed }: EntityDifference,
): Promise<void> {
  const ends = [
    ...changed.map(({ kind, key }) => ({ kind, key, superseded: true })),
    ...closed.map(({ kind, key }) => ({ kind, key, superseded: false })),
  ]
  const before = new Map<string, EndedEntity>()
  for (const rows of slices(ends)) {
    for (const one of await closeSnapshotEntities(sql, run, rows)) before.set(entityId(one), one)
  }
  for (const rows of slices([...opened, ...changed])) {
    const dated = rows.map((row) => ({ ...row, since: sinceOf(row, before.get(entityId(row))) }))
    await insertSnapshotEntities(sql, run, dated)
  }
  const ids = [...opened, ...changed, ...closed].map(({ kind, key }) => ({ kind, key }))
  for (const some of slices(ids)) await putNodes(sql, run, some, before)
}

async function putNodes(
  sql: Sql,
  { namespace, at, writer, catalog }: Reconciling,
  ids: readonly { kind: string; key: string }[],
  before: ReadonlyMap<string, EndedEntity>,
): Promise<void> {
  const keys = new Set(ids.map(({ key }) => key))
  const graph = await readGraph(sql, namespace, { keys, facts: [], since: at })
  const said = Map.groupBy(await selectSourceVersions(sql, namespace.id, ids), entityId)
  for (const { kind, key } of ids) {
    const id = entityId({ kind, key })
    const priority = catalog.kinds.get(kind)?.declaration.sourcePriority ?? []
    const merged = mergeSources(said.get(id) ?? [], priority)
    const { attributes: saidBefore = {}, title: titleBefore } = before.get(id) ?? {}
    putMerged(graph, { kind, key, merged, saidBefore, titleBefore, at }, writer)
  }
  await writeGraph(sql, graph)
}

/**
 * Since when the source has said what it still says, where that is longer than this version lasts: of the
 * title as `t`, of attributes as `p:<name>`.
 */
function sinceOf(
  { title, attributes }: EntityState,
  before: EndedEntity | undefined,
): Record<string, string> {
  if (!before) return {}
  const since: Record<string, string> = {}
  const keep = (name: string) => (since[name] = before.since[name] ?? before.validFrom)
  if (title === before.title) keep('t')
  for (const [name, value] of Object.entries(attributes)) {
    const former = Object.hasOwn(before.attributes, name) ? before.attributes[name] : undefined
    if (canonicalJson(value) === canonicalJson(former ?? null)) keep(`p:${name}`)
  }
  return since
}
