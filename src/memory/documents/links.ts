import type { DocumentBody } from '#contract/memory.ts'
import type { Sql } from '#db/sql.ts'
import type { Writer } from '../access/caller.ts'
import { openVersion } from '../graph/graph.ts'
import type { Graph } from '../graph/graph.ts'
import type { Namespace } from '../store/write.ts'
import { closeEdges, insertEdges, selectLinks } from '../store/edge.sql.ts'
import { isVisible } from '../visibility.ts'

const PREDICATE = 'LINKS_TO'

interface Linking {
  document: DocumentBody
  at: string
  writer: Writer
}

/**
 * Brings the links of a document to those given, when they are given. Links to nodes that do not exist
 * or that the writer cannot see are left out without a word.
 */
export async function linkDocument(
  sql: Sql,
  graph: Graph,
  { document, at, writer }: Linking,
): Promise<{ count: number; changed: boolean }> {
  const { namespace } = graph
  const { natural_key: key, links, type, scopes } = document
  const open = await selectLinks(sql, namespace.id, key, PREDICATE)
  if (links === undefined) return { count: open.length, changed: false }
  const wanted = new Map(
    links.flatMap((link) => {
      const target = openVersion(graph, { key: link, scopes: [] })?.row
      const exists = target && link !== key && isVisible(target.scopes, writer.audience)
      return exists ? [[link, target.kind] as const] : []
    }),
  )
  const known = new Set(open.map(({ object }) => object))
  const ended = open.filter(({ object }) => !wanted.has(object))
  const added = [...wanted].filter(([object]) => !known.has(object))
  if (ended.length > 0) {
    await closeEdges(
      sql,
      namespace,
      ended.map(({ item }) => ({ item, at })),
    )
    for (const { item } of ended) namespace.changed('edge', item, -1, 0)
  }
  const from = { key, kind: type, scopes, sourcePath: document.source_path ?? null }
  const ends = added.map(([object, objectKind]) => ({ object, objectKind }))
  await addLinks(sql, namespace, { from, predicate: PREDICATE, at, ends })
  return { count: wanted.size, changed: ended.length + added.length > 0 }
}

interface NewLinks {
  from: { key: string; kind: string; scopes: string[]; sourcePath: string | null }
  predicate: string
  at: string
  ends: readonly { object: string; objectKind: string }[]
}

/** Links are edges that are no facts: nothing is asserted and nothing is found by them. */
export async function addLinks(
  sql: Sql,
  namespace: Namespace,
  { from, predicate, at, ends }: NewLinks,
): Promise<void> {
  const rows = ends.map((end) => ({
    ...end,
    item: namespace.nextItem(),
    factId: null,
    subject: from.key,
    subjectKind: from.kind,
    predicate,
    attributes: {},
    validFrom: at,
    validTo: null,
    observedAt: at,
    confidence: 1,
    observationIds: [],
    supersedes: null,
    supersededBy: null,
    sourcePath: from.sourcePath,
    origin: 'agent' as const,
    scopes: from.scopes,
    terms: '{}',
    termTfs: '{}',
    termCount: 0,
  }))
  if (rows.length > 0) await insertEdges(sql, namespace, rows)
  for (const { item } of rows) namespace.changed('edge', item, 1, 0)
}
