import type { DocumentBody } from '#contract/memory.ts'
import type { Sql } from '#db/sql.ts'
import { addVersion, versionsOf } from '../graph/graph.ts'
import type { Graph } from '../graph/graph.ts'
import { selectLinks } from '../store/edge.sql.ts'
import { anchorKey, IN_TRACE, TRACE_KIND } from '../graph/trail.ts'
import { addLinks } from './links.ts'

/** Puts a node into a trace, whose anchor is made when it is new. True when it was not there before. */
export async function traceNode(
  sql: Sql,
  graph: Graph,
  { document, at, trace }: { document: DocumentBody; at: string; trace: string },
): Promise<boolean> {
  const { namespace } = graph
  const { natural_key: key, type, scopes } = document
  const anchor = anchorKey(trace)
  const known = await selectLinks(sql, namespace.id, key, IN_TRACE)
  if (known.some(({ object }) => object === anchor)) return false
  if (versionsOf(graph, anchor).length === 0) {
    addVersion(graph, {
      key: anchor,
      kind: TRACE_KIND,
      title: anchor,
      properties: {},
      aliases: [],
      sourcePath: null,
      observationId: null,
      provenance: null,
      confidence: null,
      origin: 'agent',
      placeholder: true,
      scopes: [],
      validFrom: at,
      validTo: null,
      lastSeen: at,
      said: {},
      termCount: 0,
    })
  }
  await addLinks(sql, namespace, {
    from: { key, kind: type, scopes, sourcePath: document.source_path ?? null },
    predicate: IN_TRACE,
    at,
    ends: [{ object: anchor, objectKind: TRACE_KIND }],
  })
  return true
}
