import type { GraphEdge, GraphNode } from '#contract/memory-graph.ts'
import { neutralise } from '#lib/neutralise.ts'
import { shown } from '../shown.ts'
import type { EdgeRow, NodeRow } from './browse.sql.ts'

/** The longest text of a node that is shown whole, in characters; documents are read by their chunks. */
const MAX_TEXT_CHARS = 20_000

/** A node as it may be shown. */
export function nodeOf(namespace: string, row: NodeRow): GraphNode {
  const { content, ...properties } = row.properties
  const said = typeof content === 'string' && content.trim() !== '' ? content : row.title
  const { text, suspicious } = neutralise(said.slice(0, MAX_TEXT_CHARS))
  return {
    ...shown({
      key: row.key,
      kind: row.kind,
      properties,
      aliases: row.aliases,
      source_path: row.sourcePath,
    }),
    namespace,
    title: neutralise(row.title).text,
    text,
    ...(suspicious.length > 0 && { suspicious }),
    confidence: row.confidence,
    placeholder: row.placeholder,
    valid_from: row.validFrom.toISOString(),
    valid_to: row.validTo?.toISOString() ?? null,
  }
}

/** An edge as it may be shown. */
export function edgeOf(namespace: string, row: EdgeRow): GraphEdge {
  const { subject, predicate, object, attributes, sourcePath } = row
  return {
    ...shown({ subject, predicate, object, attributes, source_path: sourcePath }),
    namespace,
    fact_id: row.factId,
    evidence: row.evidence,
    confidence: row.confidence,
    valid_from: row.validFrom?.toISOString() ?? null,
    valid_to: row.validTo?.toISOString() ?? null,
  }
}
