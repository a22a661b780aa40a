import type { Database, Sql } from '#db/sql.ts'
import { AppError, found } from '#lib/errors.ts'
import { foreign } from '../access/caller.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { endVersion, versionsOf } from '../graph/graph.ts'
import { isOfTrail } from '../graph/trail.ts'
import { selectOpenChunks } from '../store/chunk.sql.ts'
import { closeEdges, selectOpenEdges } from '../store/edge.sql.ts'
import { selectNamespaceId } from '../store/namespace.sql.ts'
import { endChunks } from '../store/write-chunks.ts'
import { writeNamespace } from '../store/write.ts'
import type { Namespace } from '../store/write.ts'
import { readGraph, writeGraph } from '../store/write-graph.ts'
import { isVisible } from '../visibility.ts'

export interface DeletedNode {
  nodes: number
  chunks: number
  edges: number
}

interface Deleting {
  namespace: string
  writer: Writer
  key: string
}

/**
 * Ends a node now, with its texts and everything that has it as an end. What was known of it stays readable
 * as of then, and the trail tells who ended it.
 *
 * Throws `invalid_request` for what belongs to the trail, `not_found` for a node that is not there, or no
 * more, or that the writer may not see, and `permission_denied` when only others see some of it.
 */
export async function deleteNode(
  db: Database,
  ctx: MemoryCtx,
  { namespace, writer, key }: Deleting,
): Promise<DeletedNode> {
  if (isOfTrail(key)) throw protectedNode(key)
  if ((await selectNamespaceId(db, namespace)) === undefined) found(undefined, 'node', key)
  return await writeNamespace(db, namespace, async (sql, ns) => {
    const ended = await endNode(sql, ns, { writer, key })
    await recordAudit(sql, ctx, {
      namespaceId: ns.id,
      action: 'node.delete',
      target: key,
      details: { ...ended.counts, types: ended.types },
      scopes: ended.scopes,
    })
    return ended.counts
  })
}

async function endNode(sql: Sql, ns: Namespace, { writer, key }: Omit<Deleting, 'namespace'>) {
  const graph = await readGraph(sql, ns, { keys: new Set([key]), facts: [], since: ns.now })
  const open = versionsOf(graph, key).filter(({ row }) => row.validTo === null)
  const visible = open.filter(({ row }) => isVisible(row.scopes, writer.audience))
  found(visible[0], 'node', key)
  const chunks = await selectOpenChunks(sql, ns.id, [key])
  const edges = await selectOpenEdges(sql, ns.id, key)
  for (const { scopes } of [...open.map(({ row }) => row), ...chunks, ...edges]) {
    if (!isVisible(scopes, writer.audience)) throw foreign()
  }
  await endChunks(
    sql,
    ns,
    chunks.map((chunk) => ({ chunk, at: ns.now })),
  )
  if (edges.length > 0) {
    await closeEdges(
      sql,
      ns,
      edges.map(({ item }) => ({ item, at: ns.now })),
    )
  }
  for (const { item, termCount } of edges) ns.changed('edge', item, -1, -termCount)
  for (const version of open) {
    const { validFrom } = version.row
    endVersion(graph, version, validFrom > ns.now ? validFrom : ns.now)
  }
  await writeGraph(sql, graph)
  return {
    counts: { nodes: open.length, chunks: chunks.length, edges: edges.length },
    types: [...new Set(open.map(({ row }) => row.kind))],
    scopes: open[0]?.row.scopes ?? [],
  }
}

function protectedNode(key: string): AppError {
  return new AppError('invalid_request', `Cannot delete node "${key}": it belongs to the trail`, {
    details: { errors: [{ loc: 'query.natural_key', message: 'belongs to the trail' }] },
  })
}
