import { z } from 'zod'
import {
  AllowedScopes,
  Confidence,
  FreeForm,
  ItemScopes,
  Moment,
  NamespaceName,
  NodeKey,
  NodeType,
  PiiMasked,
  ScopeRef,
  WriteScope,
  label,
} from './memory-common.ts'
import { OBSERVATION_STATUSES } from './memory.ts'
import { route } from './route.ts'

const tag = 'Memory'
const write = { method: 'POST', tag, access: 'authenticated', idempotencyKey: 'none' } as const
const target = {
  namespace: NamespaceName.optional(),
  scope: WriteScope.optional(),
  allowed_scopes: AllowedScopes,
}

/** What the trail of a task, a run or a request is called. */
const TraceId = label(256)

/** Where knowledge comes from; the first of its ids that is there names the trace it belongs to. */
const Provenance = z.looseObject({
  trace_id: TraceId.optional(),
  issue_id: TraceId.optional(),
  run_id: TraceId.optional(),
  source: z.string().max(2048).optional(),
})

const described = {
  ...target,
  title: z.string().max(2000).optional(),
  properties: FreeForm.optional(),
  aliases: z.array(label(300)).max(100).optional(),
  /** Keys of nodes that exist; others are skipped. */
  links: z.array(NodeKey).max(200).optional(),
  scopes: ItemScopes.default([]),
  source_path: z.string().max(2048).optional(),
  provenance: Provenance.optional(),
  confidence: Confidence.default(0.8),
}

const stored = {
  natural_key: z.string(),
  namespace: z.string(),
  type: z.string(),
  title: z.string(),
  origin: z.enum(['agent', 'vault', 'snapshot']),
  /** Links and the place in a trace. */
  edges: z.int(),
  /** True when memory already held exactly this. */
  unchanged: z.boolean(),
  warnings: z.array(z.string()).optional(),
}

export const retain = route({
  ...write,
  path: '/api/brain/retain',
  summary: 'Keep one piece of text as it is; the same text, or external id, is kept once',
  statuses: [201],
  bodyLimit: 'knowledge',
  errors: ['permission_denied', 'version_conflict', 'request_too_large'],
  body: z.strictObject({
    ...described,
    content: z
      .string()
      .regex(/\S/, 'must not be blank')
      .refine((text) => Buffer.byteLength(text) <= 1_048_576, 'must be at most 1 MiB'),
    type: NodeType.default('note'),
    external_id: NodeKey.optional(),
  }),
  reply: z.strictObject({ retained: z.literal(true), ...stored, trace: z.string().nullable() }),
})

export const putFact = route({
  ...write,
  path: '/api/brain/facts',
  summary: 'Describe one thing by its key, or bring the one of that key to this state',
  statuses: [201],
  bodyLimit: 'knowledge',
  errors: ['permission_denied', 'version_conflict', 'request_too_large'],
  body: z.strictObject({ ...described, natural_key: NodeKey, type: NodeType.default('fact') }),
  reply: z.strictObject({ ...stored, trace: z.string().nullable() }),
})

export const invalidateFact = route({
  ...write,
  path: '/api/memory/facts/{id}:invalidate',
  summary: 'End a fact that nothing replaces',
  errors: ['permission_denied', 'not_found'],
  params: z.strictObject({ id: z.string().max(64) }),
  body: z.strictObject({
    ...target,
    /** From when on it does not hold; now when absent. */
    at: Moment.optional(),
    reason: z.string().max(2000).optional(),
  }),
  reply: z.strictObject({
    fact_id: z.string(),
    namespace: z.string(),
    valid_to: z.string(),
    /** False when it had ended before: that stays. */
    invalidated: z.boolean(),
  }),
})

export const deleteNode = route({
  method: 'DELETE',
  path: '/api/brain/nodes',
  summary:
    'End a node with its texts, links and facts; what it was before stays readable as of then',
  tag,
  access: 'authenticated',
  errors: ['permission_denied', 'not_found'],
  query: z.strictObject({ namespace: NamespaceName.optional(), natural_key: NodeKey }),
  reply: z.strictObject({
    natural_key: z.string(),
    namespace: z.string(),
    deleted: z.literal(true),
    nodes: z.int(),
    chunks: z.int(),
    edges: z.int(),
  }),
})

export const recordAudit = route({
  ...write,
  path: '/api/brain/audit',
  summary: 'Add an event to the trail of a namespace, which is never changed',
  statuses: [201],
  errors: ['permission_denied'],
  body: z.strictObject({
    ...target,
    action: label(128),
    target: z.string().max(512).optional(),
    content: z.string().max(65_536).optional(),
    details: FreeForm.optional(),
    provenance: Provenance.optional(),
    trace_id: TraceId.optional(),
    scopes: z.array(ScopeRef).max(20).default([]),
  }),
  reply: z.strictObject({
    natural_key: z.string(),
    namespace: z.string(),
    type: z.literal('audit_event'),
    trace: z.string(),
  }),
})

export const AuditEvent = z.strictObject({
  natural_key: z.string(),
  action: z.string(),
  actor: z.string(),
  target: z.string().nullable(),
  content: z.string().nullable(),
  details: FreeForm,
  recorded_at: z.string(),
})

export const readTrail = route({
  method: 'GET',
  path: '/api/brain/trace/{id}',
  summary: 'What belongs to a trace: the nodes kept under it, and what was done',
  tag,
  access: 'authenticated',
  errors: ['permission_denied', 'not_found'],
  params: z.strictObject({ id: z.string().max(300) }),
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  reply: z.strictObject({
    trace_id: z.string(),
    namespace: z.string(),
    anchor: z.string(),
    nodes: z.array(
      z.strictObject({
        natural_key: z.string(),
        type: z.string(),
        title: z.string(),
        source_path: z.string().nullable(),
        valid_from: z.string(),
      }),
    ),
    events: z.array(AuditEvent),
    /** Whether there is more than the newest 500 of either. */
    truncated: z.boolean(),
    pii_masked: PiiMasked,
  }),
})

export const consolidate = route({
  ...write,
  path: '/api/memory/consolidate',
  summary: 'Use observations again whose assertions could not all be used, the oldest first',
  errors: ['permission_denied'],
  query: z.strictObject({
    namespace: NamespaceName.optional(),
    /** Observations at most. */
    limit: z
      .string()
      .regex(/^\d{1,4}$/, 'must be a whole number from 1 to 5000')
      .transform(Number)
      .pipe(z.int().min(1).max(5000))
      .default(500),
  }),
  body: z.strictObject(target).optional(),
  reply: z.strictObject({
    namespace: z.string(),
    reprocessed: z.int(),
    /** What became of them. */
    statuses: z.partialRecord(z.enum(OBSERVATION_STATUSES), z.int()),
    /** How many are left that this request did not come to. */
    remaining: z.int(),
  }),
})

export const routes = {
  retain,
  putFact,
  invalidateFact,
  deleteNode,
  recordAudit,
  readTrail,
  consolidate,
}
