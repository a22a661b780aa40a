import type { Recorded } from '#contract/memory.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { Writer } from './access/caller.ts'
import { cutText } from './documents/cut-text.ts'
import type { Catalog } from './packs/catalog.ts'
import { mentions, parseAssertions, project } from './graph/project.ts'
import type { Evidence } from './graph/project.ts'
import { selectPending, selectPendingCount, updateStatuses } from './store/pending.sql.ts'
import type { PendingRow } from './store/pending.sql.ts'
import { storeTexts } from './store/write-chunks.ts'
import { selectNamespaceId } from './store/namespace.sql.ts'
import { writeNamespace } from './store/write.ts'
import type { Namespace } from './store/write.ts'
import { readGraph, writeGraph } from './store/write-graph.ts'
import { audienceFor, narrowed } from './visibility.ts'

export interface Consolidating {
  namespace: string
  writer: Writer
  /** What the packs of the namespace declare now. */
  catalog: Catalog
  limit: number
}

export interface Consolidated {
  reprocessed: number
  statuses: Partial<Record<Recorded['status'], number>>
  remaining: number
}

/** Held together in one transaction; more follow one after another. */
const SLICE = 200

/**
 * Uses the assertions of observations again that could not all be used, the oldest first, with no more than
 * both the first writer and this one may see and write. What was used before is recognised, so it does no
 * harm to repeat it. Observations that the caller may not see are left alone.
 */
export async function consolidate(
  db: Database,
  { namespace, writer, catalog, limit }: Consolidating,
): Promise<Consolidated> {
  const statuses: Consolidated['statuses'] = {}
  if ((await selectNamespaceId(db, namespace)) === undefined) {
    return { reprocessed: 0, statuses, remaining: 0 }
  }
  let reprocessed = 0
  let after = 0
  for (;;) {
    const size = Math.min(SLICE, limit - reprocessed)
    const done = await writeNamespace(db, namespace, async (sql, ns) => {
      const query = { audience: writer.audience, after, limit: size }
      const rows = size === 0 ? [] : await selectPending(sql, ns.id, query)
      return rows.length === 0 ? [] : await reproject(sql, ns, rows, { writer, catalog })
    })
    for (const { status } of done) statuses[status] = (statuses[status] ?? 0) + 1
    reprocessed += done.length
    after = done.at(-1)?.item ?? after
    if (done.length < size || size === 0) break
  }
  const id = (await selectNamespaceId(db, namespace)) ?? ''
  const query = { audience: writer.audience, after }
  return { reprocessed, statuses, remaining: await selectPendingCount(db, id, query) }
}

interface Done {
  item: number
  status: Recorded['status']
  detail: string | null
}

async function reproject(
  sql: Sql,
  namespace: Namespace,
  rows: readonly PendingRow[],
  { writer, catalog }: Pick<Consolidating, 'writer' | 'catalog'>,
): Promise<Done[]> {
  const said = rows.map((row) => ({ row, evidence: evidenceOf(row), parsed: parseAssertions(row) }))
  const spoken = said.map(({ evidence, parsed }) => mentions(evidence, parsed))
  const graph = await readGraph(sql, namespace, {
    keys: new Set(spoken.flatMap(({ keys }) => keys)),
    facts: spoken.flatMap(({ facts }) => facts),
    since: rows.map(({ occurredAt }) => occurredAt).reduce((a, b) => (a < b ? a : b)),
  })
  const projected = said.map(({ row, evidence, parsed }) => {
    const audience = narrowed(audienceFor(row.writerVisibility), writer.audience)
    return { row, ...project(graph, evidence, parsed, { writer: audience, catalog }) }
  })
  await writeGraph(sql, graph)
  const texts = projected.flatMap((one) => one.texts.map(cutText))
  await storeTexts(sql, namespace, texts)
  const done = projected.map(({ row, status, detail }) => ({ item: row.item, status, detail }))
  await updateStatuses(sql, namespace, done)
  for (const { item } of done) namespace.changed('observation', item, 0, 0)
  return done
}

function evidenceOf({ observationId, occurredAt, scopes, assertions }: PendingRow): Evidence {
  return { observationId, occurredAt, scopes, assertions }
}
