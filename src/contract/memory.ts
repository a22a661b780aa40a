import { z } from 'zod'
import {
  AllowedScopes,
  FreeForm,
  ItemScopes,
  Moment,
  NamespaceName,
  NodeKey,
  NodeType,
  WriteScope,
  label,
} from './memory-common.ts'
import { route } from './route.ts'

const tag = 'Memory'
const write = { method: 'POST', tag, access: 'authenticated', idempotencyKey: 'none' } as const
const large = { ...write, bodyLimit: 'knowledge' } as const
const target = {
  namespace: NamespaceName.optional(),
  scope: WriteScope.optional(),
  allowed_scopes: AllowedScopes,
}

export const OBSERVATION_STATUSES = [
  'received',
  'processed',
  'partially_processed',
  'failed',
  'redacted',
] as const

/** The shape of an observation stands in `memory-observation.ts`; a batch judges each one alone. */
const AnyObservation = z.unknown()

const Recorded = z.strictObject({
  observation_id: z.string(),
  duplicate: z.boolean(),
  status: z.enum(OBSERVATION_STATUSES),
  /** Why an assertion could not be used. */
  status_detail: z.string().optional(),
  warnings: z.array(z.string()).optional(),
})
export type Recorded = z.output<typeof Recorded>

const ItemFault = z.strictObject({
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.strictObject({ loc: z.string(), message: z.string() })).optional(),
})
export type ItemFault = z.output<typeof ItemFault>

const BatchResult = z.union([
  Recorded.extend({ index: z.int() }),
  z.strictObject({ index: z.int(), error: ItemFault }),
])
export type BatchResult = z.output<typeof BatchResult>

const decimal = z
  .union([z.int().min(0).transform(String), z.string().regex(/^\d{1,20}$/, 'must be decimal')])
  .transform((digits) => BigInt(digits).toString())

/** Where the sender's journal stands after this batch: epoch, transaction, sequence. */
export const StreamPosition = z.strictObject({
  /** Both default to the source of the batch's first observation. */
  system: label(256).optional(),
  stream: label(256).optional(),
  e: z.int().min(0).max(2_147_483_647),
  t: decimal.refine((t) => BigInt(t) < 2n ** 64n, 'must fit 64 bits'),
  s: decimal.refine((s) => BigInt(s) < 2n ** 63n, 'must fit 63 bits'),
})

export const recordObservation = route({
  ...large,
  path: '/api/memory/observations',
  summary: 'Record one observation; a repeat is recognised',
  statuses: [201],
  errors: ['request_too_large'],
  body: z.looseObject(target),
  reply: Recorded,
})

export const recordObservations = route({
  ...large,
  path: '/api/memory/observations:batch',
  summary: 'Record many observations; each is accepted or refused alone',
  statuses: [207],
  errors: ['request_too_large'],
  body: z.strictObject({
    ...target,
    observations: z.array(AnyObservation),
    stream_position: StreamPosition.optional(),
  }),
  reply: z.strictObject({
    /** One for each observation sent, in order. */
    results: z.array(BatchResult),
    accepted: z.int(),
    duplicates: z.int(),
    failed: z.int(),
  }),
})

export const listStreams = route({
  method: 'GET',
  path: '/api/memory/streams',
  summary: 'How far each stream of a namespace has been received, and by which database',
  tag,
  access: 'authenticated',
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  reply: z.strictObject({
    /** Of the database: another one after it was made anew. */
    instance_id: z.uuid(),
    streams: z.array(
      z.strictObject({
        system: z.string(),
        stream: z.string(),
        position: z.strictObject({ e: z.int(), t: z.string(), s: z.string() }),
        /** Observations accepted from it so far. */
        received: z.int(),
      }),
    ),
  }),
})

const GivenChunk = z.strictObject({
  text: z.string().min(1).regex(/\S/, 'must not be blank'),
  heading: z.string().max(2000).nullish(),
  title: z.string().max(2000).nullish(),
  /** Place in the document; the place in the list when absent. */
  order: z.int().min(0).max(1_000_000).optional(),
  meta: FreeForm.optional(),
})

export const MAX_CHUNKS = 500

export const DocumentBody = z
  .strictObject({
    ...target,
    natural_key: NodeKey,
    title: z.string().max(2000).optional(),
    /** `code` is cut by blocks, everything else by headings and paragraphs. */
    type: NodeType.default('document'),
    content: z.string().regex(/\S/, 'must not be blank').optional(),
    chunks: z.array(GivenChunk).min(1).max(MAX_CHUNKS).optional(),
    /** Whether chunks that are not sent are removed; true with `content`. */
    replace: z.boolean().optional(),
    /** Keys of nodes that exist; others are skipped. */
    links: z.array(NodeKey).max(200).optional(),
    meta: FreeForm.optional(),
    properties: FreeForm.optional(),
    aliases: z.array(label(300)).max(100).optional(),
    scopes: ItemScopes.default([]),
    source_path: z.string().max(2048).optional(),
    provenance: FreeForm.optional(),
    /** From when on the text holds; the moment it is stored when absent. */
    valid_from: Moment.optional(),
  })
  .refine(({ content, chunks }) => (content === undefined) !== (chunks === undefined), {
    path: ['content'],
    error: 'must be given, or chunks, but not both',
  })
export type DocumentBody = z.output<typeof DocumentBody>

export const putDocument = route({
  ...large,
  path: '/api/brain/documents',
  summary: 'Store a document, or bring the one of the same key to this state',
  errors: ['permission_denied', 'version_conflict', 'document_invalid', 'request_too_large'],
  body: DocumentBody,
  reply: z.strictObject({
    natural_key: z.string(),
    namespace: z.string(),
    title: z.string(),
    type: z.string(),
    chunks: z.int(),
    links: z.int(),
    /** True when memory already held exactly this; nothing was written. */
    unchanged: z.boolean(),
    warnings: z.array(z.string()).optional(),
  }),
})

export const deleteDocument = route({
  method: 'DELETE',
  path: '/api/brain/documents',
  summary: 'End a document; a repeat answers deleted: false',
  tag,
  access: 'authenticated',
  query: z.strictObject({ namespace: NamespaceName.optional(), natural_key: NodeKey }),
  reply: z.strictObject({
    natural_key: z.string(),
    namespace: z.string(),
    deleted: z.boolean(),
    chunks: z.int(),
  }),
})

export const health = route({
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the service and its database answer, and how much they hold',
  tag,
  access: 'public',
  reply: z.strictObject({
    ok: z.boolean(),
    graph: z.string(),
    nodes: z.int(),
    chunks: z.int(),
  }),
})

export const routes = {
  recordObservation,
  recordObservations,
  listStreams,
  putDocument,
  deleteDocument,
  health,
}
