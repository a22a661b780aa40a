import type { Database } from '#db/sql.ts'
import { sha256 } from '#lib/id.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { endVersion, versionsOf } from '../graph/graph.ts'
import { selectOpenChunks } from '../store/chunk.sql.ts'
import { closeEdges, selectLinks } from '../store/edge.sql.ts'
import { selectNamespaceId } from '../store/namespace.sql.ts'
import { endChunks } from '../store/write-chunks.ts'
import { writeNamespace } from '../store/write.ts'
import { readGraph, writeGraph } from '../store/write-graph.ts'
import { isVisible } from '../visibility.ts'

export interface DeletedDocument {
  deleted: boolean
  chunks: number
}

/**
 * Ends a document now: its chunks, its node and its links. What it said before stays readable as of
 * then, and the trail tells who ended it. A document that is not there, no more, or not within
 * the writer's sight is `deleted: false`.
 */
export async function deleteDocument(
  db: Database,
  ctx: MemoryCtx,
  { namespace, writer, key }: { namespace: string; writer: Writer; key: string },
): Promise<DeletedDocument> {
  if ((await selectNamespaceId(db, namespace)) === undefined) return { deleted: false, chunks: 0 }
  return await writeNamespace(db, namespace, async (sql, ns) => {
    const all = await selectOpenChunks(sql, ns.id, [key])
    const open = all.filter(({ scopes }) => isVisible(scopes, writer.audience))
    if (open.length === 0) return { deleted: false, chunks: 0 }
    await endChunks(
      sql,
      ns,
      open.map((chunk) => ({ chunk, at: ns.now })),
    )
    const graph = await readGraph(sql, ns, { keys: new Set([key]), facts: [], since: ns.now })
    for (const version of versionsOf(graph, key)) {
      const isDocument = open.some(({ docType }) => docType === version.row.kind)
      const isSeen = isVisible(version.row.scopes, writer.audience)
      if (
        isDocument &&
        isSeen &&
        version.row.validTo === null &&
        version.row.origin !== 'snapshot'
      ) {
        endVersion(graph, version, later(ns.now, version.row.validFrom))
      }
    }
    await writeGraph(sql, graph)
    const links = await selectLinks(sql, ns.id, key, 'LINKS_TO')
    if (links.length > 0) {
      await closeEdges(
        sql,
        ns,
        links.map(({ item }) => ({ item, at: ns.now })),
      )
      for (const { item } of links) ns.changed('edge', item, -1, 0)
    }
    await recordAudit(sql, ctx, {
      namespaceId: ns.id,
      action: 'document.delete',
      target: key,
      details: { chunks: open.length, sha256: sha256(open.map(({ text }) => text).join('\n')) },
      scopes: open[0]?.scopes ?? [],
    })
    return { deleted: true, chunks: open.length }
  })
}

function later(a: string, b: string): string {
  return a > b ? a : b
}
