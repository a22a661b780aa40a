import type { DocumentBody } from '#contract/memory.ts'
import type { Database, Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { foreign } from '../access/caller.ts'
import type { Writer } from '../access/caller.ts'
import { openVersion } from '../graph/graph.ts'
import type { Graph } from '../graph/graph.ts'
import { putNode } from '../graph/put-node.ts'
import { canonicalKind } from '../packs/catalog.ts'
import type { Catalog } from '../packs/catalog.ts'
import { builtAliases, entityMisfits, requireFitting } from '../packs/judge.ts'
import { anchorKey } from '../graph/trail.ts'
import { mayWrite } from '../prepare-observation.ts'
import { redacted } from '../redacted.ts'
import { isPrivate, ownerOf } from '../scopes.ts'
import { selectOpenChunks } from '../store/chunk.sql.ts'
import type { ChunkRow } from '../store/chunk.sql.ts'
import { addChunks, endChunks } from '../store/write-chunks.ts'
import { writeNamespace } from '../store/write.ts'
import type { Namespace } from '../store/write.ts'
import { readGraph, writeGraph } from '../store/write-graph.ts'
import { isVisible } from '../visibility.ts'
import { planChunks } from './plan-chunks.ts'
import type { NewChunk } from './plan-chunks.ts'
import { chunksOf, titleOf } from './document.ts'
import { linkDocument } from './links.ts'
import { traceNode } from './trace-node.ts'

export interface PutDocument {
  namespace: string
  writer: Writer
  document: DocumentBody
  /** What the packs of the namespace declare. */
  catalog: Catalog
  /** How far what it says is to be believed. */
  confidence?: number
  /** The trace that it belongs to. */
  trace?: string | undefined
}

export interface DocumentResult {
  title: string
  /** By the name that the packs give it. */
  type: string
  /** Open chunks of the document afterwards. */
  chunks: number
  links: number
  unchanged: boolean
  warnings: string[]
}

/**
 * Brings a document to the state given: chunks that differ end where the new ones begin, what is the
 * same is left alone, and when nothing differs nothing is written. Versions of a document come in the
 * order of time: `version_conflict` for one that would begin before the one known.
 *
 * Throws `permission_denied` for a document of others or scopes beyond the writer's, and
 * `document_invalid` where a strict namespace's packs do not allow it.
 */
export async function putDocument(
  db: Database,
  { namespace, writer, document, catalog, confidence, trace }: PutDocument,
): Promise<DocumentResult> {
  if (!mayWrite(writer, document.scopes)) throw foreign()
  const clean = inWordsOfPacks(redacted(document), catalog)
  const title = titleOf(clean)
  const chunks = chunksOf(clean, title)
  return await writeNamespace(db, namespace, async (sql, ns) => {
    const at = clean.valid_from ?? ns.now
    const keys = new Set([
      clean.natural_key,
      ...(clean.links ?? []),
      ...(trace === undefined ? [] : [anchorKey(trace)]),
    ])
    const graph = await readGraph(sql, ns, { keys, facts: [], since: at })
    const known = await selectOpenChunks(sql, ns.id, [clean.natural_key])
    const owner = ownerOf(clean.scopes)
    const open = known.filter(({ scopes }) => ownerOf(scopes) === owner)
    if (open.some(({ scopes }) => !isVisible(scopes, writer.audience))) throw foreign()
    const node = putDocumentNode(graph, clean, { title, at, writer, confidence })
    const links = await linkDocument(sql, graph, { document: clean, at, writer })
    const isTraced =
      trace !== undefined && (await traceNode(sql, graph, { document: clean, at, trace }))
    const wanted = chunks.map((chunk) => ({ ...chunk, scopes: node.scopes }))
    const changed = await replaceChunks(sql, ns, { document: clean, open, wanted, at })
    const hidden = owner === '' ? known.filter(({ scopes }) => isPrivate(scopes)) : []
    await endChunks(
      sql,
      ns,
      hidden.map((chunk) => ({ chunk, at })),
    )
    await writeGraph(sql, graph)
    return {
      title,
      type: clean.type,
      chunks: changed.left,
      links: links.count,
      unchanged: !changed.any && !node.changed && !links.changed && !isTraced,
      warnings: node.warning === undefined ? [] : [node.warning],
    }
  })
}

/** The document with its type by the name that the packs give it, and the further names that they make. */
function inWordsOfPacks(document: DocumentBody, catalog: Catalog): DocumentBody {
  const { natural_key: key, properties: attributes = {} } = document
  const kind = canonicalKind(catalog, document.type)
  const judged = { kind, key, attributes }
  const misfits = entityMisfits(catalog, judged).map(
    ({ path: [first = '', ...rest], message }) => ({
      path: [DOCUMENT_FIELDS[first] ?? first, ...rest],
      message,
    }),
  )
  requireFitting('document_invalid', [{ at: [], kind, key, misfits }])
  const aliases = [...new Set([...(document.aliases ?? []), ...builtAliases(catalog, judged)])]
  return { ...document, type: kind, ...(aliases.length > 0 && { aliases }) }
}

const DOCUMENT_FIELDS: Readonly<Record<string, string>> = {
  kind: 'type',
  key: 'natural_key',
  attributes: 'properties',
}

function putDocumentNode(
  graph: Graph,
  document: DocumentBody,
  given: { title: string; at: string; writer: Writer; confidence: number | undefined },
) {
  const { natural_key: key, type, properties, meta, scopes, aliases } = document
  const { title, at, writer, confidence } = given
  const before = openVersion(graph, { key, scopes: [] })?.row
  if (before && !before.placeholder && isPrivate(scopes)) throw foreign()
  const result = putNode(
    graph,
    {
      key,
      kind: type,
      kindGiven: true,
      title,
      properties: { ...properties, ...(meta && { meta }) },
      aliases: aliases ?? [],
      scopes,
      at,
      isSighting: false,
      sourcePath: document.source_path ?? null,
      provenance: document.provenance ?? null,
      confidence: confidence ?? null,
    },
    writer.audience,
  )
  return {
    ...result,
    scopes: openVersion(graph, { key, scopes, kind: type })?.row.scopes ?? scopes,
  }
}

interface Replacing {
  document: DocumentBody
  open: readonly ChunkRow[]
  wanted: readonly NewChunk[]
  at: string
}

async function replaceChunks(
  sql: Sql,
  namespace: Namespace,
  { document, open, wanted, at }: Replacing,
): Promise<{ any: boolean; left: number }> {
  const replacesAll = document.replace ?? document.content !== undefined
  const { ended, added, left } = planChunks(open, wanted, replacesAll)
  const later = ended.find(({ validFrom }) => validFrom > at)
  if (later) {
    throw new AppError(
      'version_conflict',
      `Cannot store document "${document.natural_key}": a version from a later moment is known`,
      { details: { validFrom: later.validFrom } },
    )
  }
  await endChunks(
    sql,
    namespace,
    ended.map((chunk) => ({ chunk, at })),
  )
  await addChunks(
    sql,
    namespace,
    added.map((chunk) => ({
      ...chunk,
      nodeKey: document.natural_key,
      docType: document.type,
      sourcePath: document.source_path ?? null,
      observationId: null,
      validFrom: at,
      validTo: null,
    })),
  )
  return { any: ended.length + added.length > 0, left }
}
