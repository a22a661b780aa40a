import { z } from 'zod'
import { fenced } from './artifacts.ts'
import { FencingToken, Id, queryInt, TaskRef, UtcInstant } from './common.ts'
import { MediaType } from './media-type.ts'
import { route } from './route.ts'

/** No setting allows larger content. */
export const MAX_CONTENT_BYTES = 2 ** 30
export const MAX_PARTS = 1000
const MAX_TOKEN = 2_147_483_647

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be SHA-256 in lower-case hex')

/** Where what is uploaded belongs, and the claim that it is made under. */
const place = {
  taskId: TaskRef.optional(),
  runId: Id.optional(),
  workspaceId: Id.optional(),
  claimId: Id.optional(),
}

/** What some bytes must turn out to be; in a query everything is text. */
const announced = { sizeBytes: queryInt(0, MAX_CONTENT_BYTES), sha256: Sha256 }

export const NewArtifactUpload = fenced(
  z.strictObject({
    sizeBytes: z.int().min(0).max(MAX_CONTENT_BYTES),
    sha256: Sha256,
    /** What the bytes are, unless the artifact says so itself. */
    mediaType: MediaType.optional(),
    ...place,
    fencingToken: FencingToken.optional(),
  }),
).meta({ id: 'NewArtifactUpload' })
export type NewArtifactUpload = z.output<typeof NewArtifactUpload>

export const ArtifactUpload = z
  .strictObject({
    id: z.uuid(),
    status: z.enum(['open', 'completed', 'aborted']),
    /** What an artifact names these bytes by; null until all of them are there. */
    contentRef: z.uuid().nullable(),
    sizeBytes: z.int(),
    sha256: z.string(),
    mediaType: z.string().nullable(),
    taskId: z.uuid().nullable(),
    workspaceId: z.uuid().nullable(),
    /** From then on there is no such upload, and its `contentRef` is nothing. */
    expiresAt: UtcInstant,
    createdAt: UtcInstant,
  })
  .meta({ id: 'ArtifactUpload' })
export type ArtifactUpload = z.infer<typeof ArtifactUpload>

export const UploadPart = z
  .strictObject({ number: z.int(), sizeBytes: z.int(), sha256: z.string() })
  .meta({ id: 'UploadPart' })
export type UploadPart = z.infer<typeof UploadPart>

const tag = 'Artifacts'
const access = 'artifacts.write'
const byId = z.strictObject({ id: Id })
const FENCE_ERRORS = [
  'not_found',
  'task_claimed',
  'stale_claim',
  'claim_holder_mismatch',
  'run_not_active',
] as const

export const beginArtifactUpload = route({
  method: 'POST',
  path: '/api/v1/artifact-uploads',
  summary: 'Begin to upload content in parts',
  tag,
  access,
  statuses: [201],
  errors: [...FENCE_ERRORS, 'workspace_archived', 'request_too_large'],
  body: NewArtifactUpload,
  reply: ArtifactUpload,
})

export const sendArtifactContent = route({
  method: 'POST',
  path: '/api/v1/artifact-uploads:send',
  summary: 'Upload content in one request, whose body is the bytes',
  tag,
  access,
  statuses: [201],
  errors: [
    ...FENCE_ERRORS,
    'workspace_archived',
    'request_too_large',
    'content_mismatch',
    'content_unavailable',
  ],
  query: fenced(
    z.strictObject({
      ...announced,
      mediaType: MediaType.optional(),
      ...place,
      fencingToken: queryInt(1, MAX_TOKEN).optional(),
    }),
  ),
  bytes: true,
  transfer: true,
  reply: ArtifactUpload,
})

export const getArtifactUpload = route({
  method: 'GET',
  path: '/api/v1/artifact-uploads/{id}',
  summary: 'An upload of the caller with the parts that are there, in their order',
  tag,
  access,
  errors: ['not_found'],
  params: byId,
  reply: ArtifactUpload.extend({ parts: z.array(UploadPart) }),
})

export const putUploadPart = route({
  method: 'PUT',
  path: '/api/v1/artifact-uploads/{id}/parts/{number}',
  summary: 'Upload a part, whose bytes are the body; one of the same number is replaced',
  tag,
  access,
  errors: [
    'not_found',
    'upload_not_open',
    'request_too_large',
    'content_mismatch',
    'content_unavailable',
  ],
  params: z.strictObject({ id: Id, number: queryInt(1, MAX_PARTS) }),
  query: z.strictObject(announced),
  bytes: true,
  transfer: true,
  reply: UploadPart,
})

export const completeArtifactUpload = route({
  method: 'POST',
  path: '/api/v1/artifact-uploads/{id}:complete',
  summary: 'Put the parts together; answers the same when that is done already',
  tag,
  access,
  idempotencyKey: 'none',
  errors: [
    ...FENCE_ERRORS,
    'upload_not_open',
    'upload_incomplete',
    'content_mismatch',
    'content_unavailable',
  ],
  params: byId,
  body: fenced(
    z.strictObject({
      runId: Id.optional(),
      claimId: Id.optional(),
      fencingToken: FencingToken.optional(),
    }),
  ),
  transfer: true,
  reply: ArtifactUpload,
})

export const abortArtifactUpload = route({
  method: 'POST',
  path: '/api/v1/artifact-uploads/{id}:abort',
  summary: 'Give an upload up; what has been sent of it is removed',
  tag,
  access,
  idempotencyKey: 'none',
  errors: ['not_found', 'upload_not_open'],
  params: byId,
  reply: ArtifactUpload,
})

export const routes = {
  beginArtifactUpload,
  sendArtifactContent,
  getArtifactUpload,
  putUploadPart,
  completeArtifactUpload,
  abortArtifactUpload,
}
