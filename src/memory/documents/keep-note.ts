import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { putFact, retain } from '#contract/memory-brain.ts'
import { DocumentBody } from '#contract/memory.ts'
import type { Database } from '#db/sql.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import type { Catalog } from '../packs/catalog.ts'
import { putDocument } from './put-document.ts'
import type { DocumentResult } from './put-document.ts'

type Retained = z.output<typeof retain.body>
type Described = z.output<typeof putFact.body>

interface Target {
  namespace: string
  writer: Writer
  /** What the packs of the namespace declare. */
  catalog: Catalog
}

export type Note = DocumentResult & { key: string; trace: string | null; edges: number }

const MAX_TITLE = 120

/**
 * Keeps a text as it is, in one chunk, with a node of its own. The same text of one trace, or the same
 * external id, is one note.
 */
export async function keepText(
  db: Database,
  ctx: MemoryCtx,
  { body, ...target }: Target & { body: Retained },
): Promise<Note> {
  const { content, type, external_id: externalId, title } = body
  const trace = traceOf(ctx, body)
  const digest = createHash('sha1').update(content).digest('hex').slice(0, 16)
  const key = externalId ?? ['fact', ...(trace === undefined ? [] : [trace]), digest].join(':')
  const firstLine = /\S.*/.exec(content)?.[0].trim() ?? ''
  const source = body.provenance?.source ?? (trace && `agent:run/${trace}`)
  return await keep(db, {
    ...target,
    body,
    trace,
    note: {
      key,
      type,
      title: title?.trim() ? title : firstLine.slice(0, MAX_TITLE).toWellFormed(),
      text: content,
      properties: { ...body.properties, content },
      sourcePath: body.source_path ?? source,
    },
  })
}

/** Describes a thing by its key; what is found of it is its content, else its title. */
export async function keepFact(
  db: Database,
  ctx: MemoryCtx,
  { body, ...target }: Target & { body: Described },
): Promise<Note> {
  const { natural_key: key, type, properties = {} } = body
  const title = body.title?.trim() ? body.title : key
  const { content } = properties
  const text = typeof content === 'string' && content.trim() !== '' ? content : title
  const sourcePath = body.source_path ?? body.provenance?.source
  const note = { key, type, title, text, properties, sourcePath }
  return await keep(db, { ...target, body, trace: traceOf(ctx, body), note })
}

interface Keeping extends Target {
  body: Retained | Described
  trace: string | undefined
  note: {
    key: string
    type: string
    title: string
    text: string
    properties: Record<string, unknown>
    sourcePath: string | undefined
  }
}

async function keep(db: Database, { body, trace, note, ...target }: Keeping): Promise<Note> {
  const { aliases, links, scopes, provenance, confidence } = body
  const { key, type, title, text, properties, sourcePath } = note
  const document = DocumentBody.parse({
    natural_key: key,
    type,
    title,
    chunks: [{ text }],
    replace: true,
    properties,
    scopes,
    ...(aliases && { aliases }),
    ...(links && { links }),
    ...(provenance && { provenance }),
    ...(sourcePath !== undefined && { source_path: sourcePath }),
  })
  const result = await putDocument(db, { ...target, document, confidence, trace })
  const edges = result.links + (trace === undefined ? 0 : 1)
  return { ...result, key, trace: trace ?? null, edges }
}

/** The trace that something belongs to: said with it, else the run that the caller is in. */
export function traceOf(
  { givenRunId }: Pick<MemoryCtx, 'givenRunId'>,
  { provenance }: Pick<Retained, 'provenance'>,
): string | undefined {
  return provenance?.trace_id ?? provenance?.issue_id ?? provenance?.run_id ?? givenRunId
}
