import { z } from 'zod'
import {
  FencingToken,
  Id,
  JsonObject,
  page,
  pageQuery,
  queryBool,
  TaskRef,
  text,
  UtcInstant,
} from './common.ts'
import { Content } from './content.ts'
import { MediaType } from './media-type.ts'
import { route } from './route.ts'

interface ShownFence {
  claimId?: string | undefined
  runId?: string | undefined
  fencingToken?: number | undefined
}

/** A body of something made under a claim, which is shown by its token and by itself or by its run. */
export function fenced<T extends z.ZodType<ShownFence>>(body: T): T {
  return body
    .refine((shown) => shown.claimId === undefined || shown.fencingToken !== undefined, {
      path: ['fencingToken'],
      error: 'is needed with claimId',
    })
    .refine((shown) => shown.fencingToken === undefined || (shown.claimId ?? shown.runId), {
      path: ['claimId'],
      error: 'or runId is needed with fencingToken',
    })
}

/** Addresses of what can be fetched or looked up elsewhere; none that a reader would run, or of one machine alone. */
export const ADDRESS_SCHEMES = [
  'https',
  'http',
  'git',
  'git+https',
  'git+ssh',
  'ssh',
  'sftp',
  's3',
  'gs',
  'az',
  'abfss',
  'oci',
  'docker',
  'pkg',
  'hf',
  'ipfs',
  'doi',
  'urn',
] as const

const ADDRESS = new RegExp(`^(?:${ADDRESS_SCHEMES.join('|').replaceAll('+', '\\+')}):.`, 'i')

const Address = z
  .string()
  .max(2000)
  .regex(/^[^\s\p{Cc}]+$/u, 'must not hold white space')
  .regex(ADDRESS, `must begin with one of ${ADDRESS_SCHEMES.map((name) => `${name}:`).join(', ')}`)

export const NewArtifact = fenced(
  z
    .strictObject({
      type: z.string().regex(/^[a-z0-9][a-z0-9._:/-]{0,99}$/, 'must be a lower-case name'),
      name: text(300),
      /** Where the thing is, when it is not kept here. */
      uri: Address.optional(),
      content: z.string().optional(),
      /** How `content` is written in the request. */
      encoding: z.enum(['utf8', 'base64']).optional(),
      /** Bytes that the caller has uploaded: `contentRef` of the completed upload. */
      contentRef: Id.optional(),
      mediaType: MediaType.optional(),
      metadata: JsonObject.default({}),
      taskId: TaskRef.optional(),
      runId: Id.optional(),
      workspaceId: Id.optional(),
      /** The revision that this one replaces; it must be the newest of its chain. */
      supersedesArtifactId: Id.optional(),
      claimId: Id.optional(),
      fencingToken: FencingToken.optional(),
    })
    .refine((body) => body.uri === undefined || body.content === undefined, {
      path: ['uri'],
      error: 'must not stand beside content',
    })
    .refine((body) => body.contentRef === undefined || !(body.uri ?? body.content), {
      path: ['contentRef'],
      error: 'must not stand beside content or uri',
    })
    .refine((body) => body.content !== undefined || body.encoding === undefined, {
      path: ['content'],
      error: 'is needed with encoding',
    })
    .refine((body) => (body.content ?? body.contentRef) !== undefined || !body.mediaType, {
      path: ['content'],
      error: 'or contentRef is needed with mediaType',
    }),
).meta({ id: 'NewArtifact' })
export type NewArtifact = z.output<typeof NewArtifact>

export const Artifact = z
  .strictObject({
    id: z.uuid(),
    type: z.string(),
    name: z.string(),
    uri: z.string().nullable(),
    /** The bytes kept here; null when the artifact is only a reference. */
    content: z
      .strictObject({ sha256: z.string(), mediaType: z.string(), sizeBytes: z.int() })
      .nullable(),
    metadata: JsonObject,
    taskId: z.uuid().nullable(),
    runId: z.uuid().nullable(),
    workspaceId: z.uuid().nullable(),
    supersedesArtifactId: z.uuid().nullable(),
    /** The revision that replaced this one; null for the newest of its chain. */
    supersededByArtifactId: z.uuid().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Artifact' })
export type Artifact = z.infer<typeof Artifact>

const byId = z.strictObject({ id: Id })

export const createArtifact = route({
  method: 'POST',
  path: '/api/v1/artifacts',
  summary: 'Publish an artifact, or a new revision of one',
  tag: 'Artifacts',
  access: 'artifacts.write',
  statuses: [201],
  errors: [
    'not_found',
    'task_claimed',
    'stale_claim',
    'claim_holder_mismatch',
    'run_not_active',
    'version_conflict',
    'workspace_archived',
    'request_too_large',
    'upload_incomplete',
    'invalid_artifact',
    'secret_refused',
  ],
  body: NewArtifact,
  reply: Artifact,
})

export const listArtifacts = route({
  method: 'GET',
  path: '/api/v1/artifacts',
  summary: 'Artifacts, newest first, without their content',
  tag: 'Artifacts',
  access: 'artifacts.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    taskId: TaskRef.optional(),
    runId: Id.optional(),
    workspaceId: Id.optional(),
    type: z.string().max(100).optional(),
    /** Only the newest revision of each chain. */
    headsOnly: queryBool.optional(),
  }),
  reply: page(Artifact),
})

export const getArtifact = route({
  method: 'GET',
  path: '/api/v1/artifacts/{id}',
  summary: 'One artifact, without its content',
  tag: 'Artifacts',
  access: 'artifacts.read',
  errors: ['not_found'],
  params: byId,
  reply: Artifact,
})

export const getArtifactContent = route({
  method: 'GET',
  path: '/api/v1/artifacts/{id}/content',
  summary: 'The bytes of an artifact, as a download that no browser will run',
  tag: 'Artifacts',
  access: 'artifacts.read',
  errors: ['not_found', 'range_not_satisfiable', 'content_damaged', 'content_unavailable'],
  params: byId,
  reply: Content,
  content: true,
})

export const routes = { createArtifact, listArtifacts, getArtifact, getArtifactContent }
