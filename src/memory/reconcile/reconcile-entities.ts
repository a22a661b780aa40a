import type { Sql } from '#db/sql.ts'
import type { Audience } from '../visibility.ts'
import {
  closeSnapshotEntities,
  insertSnapshotEntities,
  selectOpenEntities,
  selectSourceVersions,
} from '../store/snapshot-entity.sql.ts'
import type { OpenEntityRow, Opening } from '../store/snapshot-entity.sql.ts'
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
  const saidBefore = new Map<string, Record<string, unknown>>()
  for (const rows of slices(ends)) {
    for (const one of await closeSnapshotEntities(sql, run, rows)) {
      saidBefore.set(entityId(one), one.attributes)
    }
  }
  for (const rows of slices([...opened, ...changed])) await insertSnapshotEntities(sql, run, rows)
  const ids = [...opened, ...changed, ...closed].map(({ kind, key }) => ({ kind, key }))
  for (const some of slices(ids)) await putNodes(sql, run, some, saidBefore)
}

async function putNodes(
  sql: Sql,
  { namespace, at, writer }: Reconciling,
  ids: readonly { kind: string; key: string }[],
  saidBefore: ReadonlyMap<string, Record<string, unknown>>,
): Promise<void> {
  const keys = new Set(ids.map(({ key }) => key))
  const graph = await readGraph(sql, namespace, { keys, facts: [], since: at })
  const said = Map.groupBy(await selectSourceVersions(sql, namespace.id, ids), entityId)
  for (const { kind, key } of ids) {
    const id = entityId({ kind, key })
    const merged = mergeSources(said.get(id) ?? [])
    putMerged(graph, { kind, key, merged, saidBefore: saidBefore.get(id) ?? {}, at }, writer)
  }
  await writeGraph(sql, graph)
}
