import { z } from 'zod'
import { coded, Instant, TaskRef } from './common.ts'
import { route } from './route.ts'

/** Kinds every reader knows; any other that fits the pattern is welcome too. */
export const BASELINE_KINDS = [
  'finding',
  'decision',
  'constraint',
  'note',
  'summary',
  'result',
  'preference',
  'external_fact',
] as const

const MAX_ASSERTION_BYTES = 65_536

/** Every fault in what is recorded has this code; values are never echoed. */
const invalid = (message: string, details: Record<string, unknown> = {}) =>
  coded('observation_invalid', message, details)

/** A `type:key` reference to something memory knows. */
export const EntityKey = z
  .string()
  .min(3)
  .max(256)
  .regex(/^[a-z][a-z0-9._-]*:\S+$/, 'must look like type:key')

const ObservationKind = z.string().refine(
  (kind) => /^[a-z0-9][a-z0-9._-]{0,127}$/.test(kind),
  invalid('must be lower-case letters, digits, ".", "_" and "-", at most 128', {
    baselineKinds: BASELINE_KINDS,
  }),
)

const Properties = z.record(z.string().min(1).max(200), z.unknown())

/** What an observation claims about the world, in the form that memory turns into graph and facts. */
export const Assertion = z.discriminatedUnion('assert', [
  z.strictObject({
    assert: z.literal('entity'),
    entity: z.strictObject({
      key: EntityKey,
      type: z
        .string()
        .max(64)
        .regex(/^[^\s\p{Cc}]+$/u, 'must not hold white space'),
      title: z.string().max(2000).optional(),
      properties: Properties.optional(),
    }),
  }),
  z.strictObject({
    assert: z.literal('fact'),
    fact: z
      .strictObject({
        subject: EntityKey,
        predicate: z
          .string()
          .max(128)
          .regex(/^[A-Za-z][A-Za-z0-9._-]*$/, 'must be a name such as DEPENDS_ON'),
        object: EntityKey,
        confidence: z.number().min(0).max(1).optional(),
        validFrom: Instant.optional(),
        validTo: Instant.optional(),
        /** The fact that this one replaces. */
        supersedes: z
          .string()
          .regex(/^fact-[0-9a-f]{24}$/, 'must be the id of a fact')
          .optional(),
      })
      .refine(
        ({ validFrom, validTo }) =>
          validFrom === undefined ||
          validTo === undefined ||
          Date.parse(validFrom) < Date.parse(validTo),
        { path: ['validTo'], error: 'must be later than validFrom' },
      ),
  }),
])
export type Assertion = z.output<typeof Assertion>

const Source = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._:/-]{0,127}$/,
    'must be lower-case letters, digits and "._:/-", at most 128',
  )

export const ExternalRef = z.strictObject({
  system: z.string().min(1).max(128).regex(/\S/, 'must not be blank'),
  id: z.string().min(1).max(512).regex(/\S/, 'must not be blank'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional(),
})
export type ExternalRef = z.output<typeof ExternalRef>

/** `visibility: "private"` keeps the observation to its author; everything else in here is yours. */
const Data = z
  .record(z.string(), z.unknown())
  .refine((data) => Object.keys(data).length <= 100, 'must have at most 100 keys')
  .refine(({ visibility }) => [undefined, 'private', 'workspace'].includes(visibility as string), {
    path: ['visibility'],
    error: 'must be "private" or "workspace"',
  })

const NewObservation = z
  .strictObject({
    kind: ObservationKind,
    content: z.string().max(65_536).regex(/\S/, 'must not be blank'),
    data: Data.optional(),
    assertions: z
      .array(Assertion)
      .max(200)
      .refine(
        (list) => Buffer.byteLength(JSON.stringify(list)) <= MAX_ASSERTION_BYTES,
        `must be at most ${MAX_ASSERTION_BYTES} bytes of JSON`,
      )
      .optional(),
    task: TaskRef.optional(),
    /** Binds the observation to the run's task as well. */
    runId: z.uuid().optional(),
    /** Where it belongs; the workspace of the task unless given. */
    workspaceId: z.uuid().optional(),
    /** A session of the caller. */
    sessionId: z.uuid().optional(),
    source: Source.optional(),
    /** A repeat of (source, dedupKey) by the same author answers 200 with the first one's id. */
    dedupKey: z.string().max(512).regex(/\S/, 'must not be blank').optional(),
    observedAt: Instant.optional(),
    /** The observation that this one replaces. */
    supersedes: z.uuid().optional(),
    externalRef: ExternalRef.optional(),
  })
  .refine(
    ({ source, dedupKey, externalRef }) =>
      source !== undefined || (dedupKey === undefined && externalRef === undefined),
    { ...invalid('is required with dedupKey or externalRef'), path: ['source'] },
  )
export type NewObservation = z.output<typeof NewObservation>

const nullableId = z.uuid().nullable()

const place = {
  taskId: nullableId,
  runId: nullableId,
  workspaceId: nullableId,
  visibility: z.enum(['workspace', 'private']),
}

export const RecordedObservation = z.strictObject({
  id: z.uuid(),
  eventId: z.uuid(),
  kind: z.string(),
  recordedAt: z.iso.datetime(),
  /** True when the author recorded the pair (source, dedupKey) before; nothing was written now. */
  deduplicated: z.boolean(),
  /** True when that earlier record says something else than this request. */
  contentDiffers: z.boolean(),
  ...place,
})
export type RecordedObservation = z.output<typeof RecordedObservation>

export const Observation = z
  .strictObject({
    id: z.uuid(),
    eventId: z.uuid(),
    kind: z.string(),
    /** Null once it was erased. */
    content: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).nullable(),
    assertions: z.array(Assertion).nullable(),
    authorId: z.uuid(),
    sessionId: nullableId,
    source: z.string().nullable(),
    dedupKey: z.string().nullable(),
    externalRef: ExternalRef.nullable(),
    supersedes: nullableId,
    observedAt: z.iso.datetime(),
    recordedAt: z.iso.datetime(),
    ...place,
  })
  .meta({ id: 'Observation' })
export type Observation = z.output<typeof Observation>

export const recordObservation = route({
  method: 'POST',
  path: '/api/v1/observations',
  summary: 'Record a finding or decision, so that a later session can recall it',
  tag: 'Observations',
  access: 'observations.write',
  body: NewObservation,
  reply: RecordedObservation,
  statuses: [201, 200],
  errors: ['observation_invalid', 'secret_refused', 'not_found', 'session_owner_mismatch'],
  fieldCodes: Object.fromEntries(
    ['kind', 'content', 'data', 'assertions', 'source', 'dedupKey', 'externalRef'].map((field) => [
      field,
      'observation_invalid' as const,
    ]),
  ),
})

export const getObservation = route({
  method: 'GET',
  path: '/api/v1/observations/{id}',
  summary: 'Read one observation; a private one only by its author',
  tag: 'Observations',
  access: 'events.read',
  params: z.strictObject({ id: z.uuid() }),
  reply: Observation,
  errors: ['not_found'],
})

export const routes = { recordObservation, getObservation }
