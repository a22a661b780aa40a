import { z } from 'zod'
import { Instant, text } from './common.ts'
import { route } from './route.ts'

const MAX_ITEMS = 20_000

/** Shape and rules of these belong to memory, which judges the whole snapshot before it writes. */
const Item = z.record(z.string(), z.unknown())

/** Memory's own answer, passed on as it is. */
const MemoryAnswer = z.looseObject({})

const Snapshot = z
  .strictObject({
    workspaceId: z.uuid(),
    pack: text(100).optional(),
    source: text(200),
    scope: text(200),
    snapshotId: text(200),
    observedAt: Instant,
    entities: z.array(Item).max(MAX_ITEMS),
    relations: z.array(Item).max(MAX_ITEMS),
    /** The state the snapshot was prepared against; another one there now is 409 `snapshot_stale`. */
    expectedState: text(128).optional(),
    /** Says that a snapshot without entities is meant, not a connector that read nothing. */
    allowEmpty: z.boolean().default(false),
  })
  .refine(({ entities, relations }) => entities.length + relations.length <= MAX_ITEMS, {
    path: ['entities'],
    error: `must be at most ${MAX_ITEMS} together with relations`,
  })
export type Snapshot = z.output<typeof Snapshot>

const snapshotRules = {
  tag: 'Knowledge',
  access: 'observations.write',
  body: Snapshot,
  reply: MemoryAnswer,
  bodyLimit: 'knowledge',
  fieldCodes: { entities: 'snapshot_invalid', relations: 'snapshot_invalid' },
} as const

const snapshotErrors = [
  'not_found',
  'workspace_archived',
  'snapshot_invalid',
  'snapshot_empty',
  'snapshot_stale',
  'memory_unavailable',
  'memory_disabled',
  'memory_timeout',
] as const

export const reconcileSnapshot = route({
  method: 'POST',
  path: '/api/v1/knowledge/snapshots',
  summary: 'Bring what memory knows of one source to the state of a full snapshot',
  ...snapshotRules,
  errors: snapshotErrors,
})

export const previewSnapshot = route({
  method: 'POST',
  path: '/api/v1/knowledge/snapshots:preview',
  summary: 'Tell what a snapshot would change, and change nothing',
  ...snapshotRules,
  errors: snapshotErrors,
  idempotencyKey: 'none',
})

const DocumentKey = text(512)

const Document = z
  .strictObject({
    workspaceId: z.uuid(),
    /** What the document is called from now on; the same key replaces it. */
    key: DocumentKey,
    title: z.string().max(2000).optional(),
    type: text(64).default('document'),
    /** Whole text, cut into chunks by memory. */
    content: z.string().min(1).optional(),
    /** Chunks kept as given, in this order. */
    chunks: z
      .array(
        z.strictObject({
          text: z.string().min(1),
          heading: z.string().max(2000).optional(),
        }),
      )
      .min(1)
      .max(500)
      .optional(),
    /** Keys of nodes that memory already has. */
    links: z.array(text(512)).max(200).optional(),
    /** Where a reader finds the original. */
    sourcePath: text(2048).optional(),
    /** From when on the text holds; the moment it is stored unless given. */
    validFrom: Instant.optional(),
    meta: Item.optional(),
  })
  .refine(({ content, chunks }) => (content === undefined) !== (chunks === undefined), {
    path: ['content'],
    error: 'must be given, or chunks, but not both',
  })
export type Document = z.output<typeof Document>

const documentErrors = [
  'not_found',
  'workspace_archived',
  'document_invalid',
  'version_conflict',
  'memory_unavailable',
  'memory_disabled',
  'memory_timeout',
] as const

export const storeDocument = route({
  method: 'POST',
  path: '/api/v1/knowledge/documents',
  summary: 'Store a document, or replace the one of the same key',
  tag: 'Knowledge',
  access: 'observations.write',
  body: Document,
  reply: MemoryAnswer,
  bodyLimit: 'knowledge',
  errors: documentErrors,
})

export const deleteDocument = route({
  method: 'POST',
  path: '/api/v1/knowledge/documents:delete',
  summary: 'Forget a document; a repeat answers that there was none',
  tag: 'Knowledge',
  access: 'observations.write',
  body: z.strictObject({ workspaceId: z.uuid(), key: DocumentKey }),
  reply: MemoryAnswer,
  errors: documentErrors,
})

export const queryEntities = route({
  method: 'POST',
  path: '/api/v1/knowledge/entities:query',
  summary: 'List entities of a workspace tree by kind and attributes',
  tag: 'Knowledge',
  access: 'events.read',
  body: z.strictObject({
    workspaceId: z.uuid(),
    kinds: z.array(text(64)).min(1).max(20),
    where: z.array(Item).max(20).optional(),
    asOf: Instant.optional(),
    limit: z.int().min(1).max(500).default(100),
    cursor: z.string().max(1000).optional(),
  }),
  reply: MemoryAnswer,
  errors: ['not_found', 'memory_unavailable', 'memory_disabled', 'memory_timeout'],
  idempotencyKey: 'none',
})

export const routes = {
  reconcileSnapshot,
  previewSnapshot,
  storeDocument,
  deleteDocument,
  queryEntities,
}
