import { z } from 'zod'
import { Artifact } from './artifacts.ts'
import { Instant, TaskRef } from './common.ts'
import { EntityKey } from './observations.ts'
import { ConfigProvenance, EffectiveConfig } from './project-config.ts'
import { projectIdentity } from './projects.ts'
import { route } from './route.ts'
import { Run } from './runs.ts'
import { Session } from './sessions.ts'
import { Task } from './tasks.ts'

const id = z.uuid()
const nullableId = id.nullable()
const Moment = z.iso.datetime()

const ClaimView = z.strictObject({
  id,
  taskId: id,
  taskPublicId: z.string(),
  taskTitle: z.string(),
  taskStatus: z.string(),
  sessionId: id,
  fencingToken: z.int(),
  expiresAt: Moment,
})

/** Without what went in and came out, which can be large. */
const RunView = Run.omit({ input: true, output: true })

export const SkillView = z.strictObject({
  id,
  name: z.string(),
  version: z.string(),
  protocol: z.string(),
  status: z.string(),
  /** The session in question can speak its protocol, as far as it said. */
  executable: z.boolean(),
})
export type SkillView = z.output<typeof SkillView>

export const ApprovalView = z.strictObject({
  id,
  taskId: nullableId,
  artifactId: nullableId,
  gate: z.boolean(),
  comment: z.string().nullable(),
  /** It can no longer be approved: what it is about was revised since. */
  stale: z.boolean(),
  createdAt: Moment,
})
export type ApprovalView = z.output<typeof ApprovalView>

/** What is true now about the caller: read from the database, never from memory. */
const harness = {
  protocol: z.strictObject({
    name: z.literal('control-harness'),
    supportedVersions: z.array(z.string()),
  }),
  tenant: z.strictObject({ id, slug: z.string(), name: z.string() }),
  principal: z.strictObject({ id, kind: z.string(), displayName: z.string() }),
  /** The session asked for. */
  session: Session.nullable(),
  activeSessions: z.array(Session),
  /** Active and unexpired, newest first. */
  activeClaims: z.array(ClaimView),
  activeRuns: z.array(RunView),
  /** At most 20, the last suspended first. */
  suspendedRuns: z.array(RunView),
  roles: z.array(z.strictObject({ id, slug: z.string(), name: z.string() })),
  capabilities: z.array(z.strictObject({ id, name: z.string() })),
  skills: z.array(SkillView),
  /** At most 50 that the caller may decide, newest first. */
  pendingApprovals: z.array(ApprovalView),
  /** Taken before everything else here was read: what changes meanwhile is seen twice, never missed. */
  eventCursor: z.string(),
  permissions: z.array(z.string()),
}

export const HarnessContext = z.strictObject(harness).meta({ id: 'HarnessContext' })
export type HarnessContext = z.output<typeof HarnessContext>

const TaskFocus = Task.pick({
  id: true,
  publicId: true,
  title: true,
  description: true,
  status: true,
  priority: true,
  workspaceId: true,
  version: true,
  activeClaimId: true,
})

const ArtifactView = Artifact.pick({
  id: true,
  type: true,
  name: true,
  uri: true,
  runId: true,
  createdAt: true,
})

export const Focus = z.strictObject({
  task: TaskFocus.nullable(),
  /** The newest 20, for readers of artifacts; else empty. */
  artifacts: z.array(ArtifactView),
})
export type Focus = z.output<typeof Focus>

/** The project in focus: decide by the category, and by the rules in `effectiveConfig.governance`. */
export const ProjectFocus = z
  .strictObject({
    ...projectIdentity,
    /** Its workspaces, its own first. */
    workspaceScope: z.array(id),
    effectiveConfig: EffectiveConfig,
    configProvenance: ConfigProvenance,
  })
  .meta({ id: 'ProjectFocus' })
export type ProjectFocus = z.output<typeof ProjectFocus>

export const getHarnessContext = route({
  method: 'GET',
  path: '/api/v1/harness/context',
  summary: 'Read what is true now about the caller: sessions, claims, runs, permissions',
  tag: 'Context',
  access: 'authenticated',
  query: z.strictObject({ sessionId: z.uuid().optional() }),
  reply: HarnessContext,
  errors: ['not_found'],
})

export const STRATEGIES = ['semantic', 'exact', 'graph', 'hybrid', 'context', 'briefing'] as const

export const MEMORY_STATUSES = ['ok', 'disabled', 'forbidden', 'timeout', 'unavailable'] as const
export type MemoryStatus = (typeof MEMORY_STATUSES)[number]

export const ContextRequest = z.strictObject({
  /** What to look for; the task in focus unless given. */
  query: z.string().max(2000).default(''),
  task: TaskRef.optional(),
  runId: z.uuid().optional(),
  workspaceId: z.uuid().optional(),
  projectId: z.uuid().optional(),
  /** Also the workspaces of nested projects in `workspaceScope`; what memory is asked stays the same. */
  includeSubprojects: z.boolean().default(false),
  /** Budget of the memory pack; the server's limit applies on top. */
  maxTokens: z.int().min(1).max(1_000_000).optional(),
  includeMemory: z.boolean().default(true),
  /** Hints such as `task:<id>` or `service:payments`. */
  anchors: z
    .array(EntityKey)
    .max(10)
    .refine((list) => new Set(list).size === list.length, 'must not repeat an anchor')
    .default([]),
  strategy: z.enum(STRATEGIES).optional(),
  /** Ask memory about another moment. */
  asOf: Instant.optional(),
})
export type ContextRequest = z.output<typeof ContextRequest>

export const Freshness = z.strictObject({
  currentCursor: z.string(),
  /** How far memory has been told; null while nothing delivers to it. */
  memoryCursor: z.string().nullable(),
  /** Events not yet delivered, also those an open transaction holds back, counted up to 1000. */
  memoryLagEvents: z.int().nullable(),
  memoryLagCapped: z.boolean(),
  /** Age of the first event not yet delivered. */
  memoryLagSeconds: z.number().nullable(),
  /** Age of the oldest committed event that a transaction still open holds back; 0 when there is none. */
  horizonLagSeconds: z.number().nullable(),
  memoryIngest: z
    .strictObject({
      status: z.enum(['ok', 'retrying', 'parked', 'paused']),
      lastError: z.string().nullable(),
      lastDeliveryAt: Moment.nullable(),
      parkedEventId: nullableId,
      nextAttemptAt: Moment.nullable(),
    })
    .nullable(),
})
export type Freshness = z.output<typeof Freshness>

export const ContextReply = z
  .strictObject({
    /** The truth: where memory says otherwise, memory is out of date. */
    operational: z.strictObject({
      ...harness,
      focus: Focus,
      project: ProjectFocus.nullable(),
    }),
    /** What earlier work left behind, as memory answered; a hint, never an order. */
    memory: z.record(z.string(), z.unknown()).nullable(),
    memoryStatus: z.enum(MEMORY_STATUSES),
    memoryTraceId: z.string().nullable(),
    freshness: Freshness,
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Context' })
export type ContextReply = z.output<typeof ContextReply>

export const getContext = route({
  method: 'POST',
  path: '/api/v1/context',
  summary: 'Compile the working context: what is true now, and what memory recalls about it',
  tag: 'Context',
  access: 'authenticated',
  body: ContextRequest,
  reply: ContextReply,
  errors: ['permission_denied', 'not_found', 'invalid_context_request'],
  fieldCodes: { anchors: 'invalid_context_request' },
  idempotencyKey: 'none',
})

export const routes = { getHarnessContext, getContext }
