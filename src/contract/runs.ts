import { z } from 'zod'
import { RunCost, RunTokens } from './budgets.ts'
import {
  FencingToken,
  Id,
  JsonObject,
  page,
  pageQuery,
  PageSize,
  TaskRef,
  text,
  UtcInstant,
} from './common.ts'
import { route } from './route.ts'
import { Spent } from './spent.ts'

/** Budgets of a run that are used up by what it reports. */
export const SPENDING_BUDGETS = ['maxTokens', 'maxCost'] as const
export type SpendingBudget = (typeof SPENDING_BUDGETS)[number]

export const RUN_STATUSES = ['running', 'succeeded', 'failed', 'cancelled', 'suspended'] as const

/** Where a layer of instructions comes from: `ref` is the project or the key of the task type. */
export const InstructionsRef = z
  .strictObject({
    source: z.enum(['platform', 'project', 'taskType']),
    ref: z.string(),
    version: z.int(),
  })
  .meta({ id: 'InstructionsRef' })
export type InstructionsRef = z.infer<typeof InstructionsRef>

export const Run = z
  .strictObject({
    id: z.uuid(),
    taskId: z.uuid(),
    taskPublicId: z.string(),
    claimId: z.uuid(),
    fencingToken: z.int(),
    sessionId: z.uuid(),
    /** The principal that works. */
    principalId: z.uuid(),
    /** 1 for the first run of the task. */
    attempt: z.int(),
    status: z.enum(RUN_STATUSES),
    input: z.unknown(),
    output: z.unknown(),
    /** Why it ended as it did; `lease_expired` when its claim was lost. */
    reason: z.string().nullable(),
    /** The approval a suspended run waits for. */
    waitingForApprovalId: z.uuid().nullable(),
    /** When somebody asked the holder to stop; the run goes on until the holder does. */
    cancelRequestedAt: UtcInstant.nullable(),
    cancelRequestReason: z.string().nullable(),
    /** The model that does the work, as the harness names it. */
    model: z.string().nullable(),
    maxDurationSeconds: z.int().nullable(),
    maxActions: z.int().nullable(),
    actionCount: z.int(),
    /** What it used so far and what that cost. */
    usage: Spent,
    /** What it and the runs below it may use and cost; reserved until it ends. Null is without a bound. */
    maxTokens: z.int().nullable(),
    maxCost: z.string().nullable(),
    /** What is left of that, and of what the runs above it have. */
    tokensLeft: z.int().nullable(),
    costLeft: z.string().nullable(),
    /** SHA-256 of the instructions that applied when the run started; see the context of a run. */
    instructionsHash: z.string().nullable(),
    instructionsRefs: z.array(InstructionsRef),
    version: z.int(),
    startedAt: UtcInstant,
    finishedAt: UtcInstant.nullable(),
  })
  .meta({ id: 'Run' })
export type Run = z.infer<typeof Run>

export const Checkpoint = z
  .strictObject({
    id: z.uuid(),
    runId: z.uuid(),
    /** 1 for the first checkpoint of the run. */
    sequence: z.int(),
    kind: z.string(),
    data: JsonObject,
    createdAt: UtcInstant,
  })
  .meta({ id: 'Checkpoint' })
export type Checkpoint = z.infer<typeof Checkpoint>

export const CheckpointKind = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._:-]{0,127}$/, 'must be a lower-case name')

const byId = z.strictObject({ id: Id })

/** How a write under the claim of a run is refused when the run or the claim is over. */
export const RUN_REFUSALS = [
  'not_found',
  'stale_claim',
  'claim_holder_mismatch',
  'child_grant_exceeded',
  'run_not_active',
] as const

export const startRun = route({
  method: 'POST',
  path: '/api/v1/tasks/{ref}:start-run',
  summary: 'Start an attempt at a claimed task',
  tag: 'Runs',
  access: 'tasks.claim',
  statuses: [201],
  errors: [
    'not_found',
    'stale_claim',
    'claim_holder_mismatch',
    'child_grant_exceeded',
    'run_already_active',
    'approval_required',
    'budget_exceeded',
  ],
  params: z.strictObject({ ref: TaskRef }),
  body: z.strictObject({
    claimId: Id,
    fencingToken: FencingToken,
    input: JsonObject.optional(),
    /** After so long the run may only be ended; the work it recorded stays. */
    maxDurationSeconds: z.int().min(1).max(2_592_000).optional(),
    maxActions: z.int().min(1).max(1_000_000).optional(),
    /** Of all classes, and money in the tenant's currency; reserved under the budgets that apply. */
    maxTokens: RunTokens.optional(),
    maxCost: RunCost.optional(),
    model: text(200).optional(),
  }),
  reply: Run,
})

export const getRun = route({
  method: 'GET',
  path: '/api/v1/runs/{id}',
  summary: 'One run',
  tag: 'Runs',
  access: 'tasks.read',
  errors: ['not_found'],
  etag: 'run',
  params: byId,
  reply: Run,
})

export const listRuns = route({
  method: 'GET',
  path: '/api/v1/runs',
  summary: 'Runs, newest first',
  tag: 'Runs',
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    taskId: TaskRef.optional(),
    status: z.enum(RUN_STATUSES).optional(),
  }),
  reply: page(Run),
})

export const recordCheckpoint = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/checkpoints',
  summary: 'Record how far a run is, so that another run can go on from there',
  tag: 'Runs',
  access: 'tasks.claim',
  statuses: [201],
  errors: [...RUN_REFUSALS, 'budget_exceeded', 'secret_refused'],
  params: byId,
  body: z.strictObject({
    fencingToken: FencingToken,
    kind: CheckpointKind,
    data: JsonObject,
  }),
  reply: Checkpoint,
})

export const listCheckpoints = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/checkpoints',
  summary: 'Checkpoints of a run, oldest first; all of them unless limit or cursor is given',
  tag: 'Runs',
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: byId,
  query: z.strictObject({ ...pageQuery, limit: PageSize.optional() }),
  reply: page(Checkpoint),
})

export const succeedRun = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:succeed',
  summary: 'End a run with success; with completeTask, complete the task and release the claim too',
  tag: 'Runs',
  access: 'tasks.claim',
  errors: [...RUN_REFUSALS, 'task_already_completed', 'invalid_transition', 'approval_required'],
  params: byId,
  body: z.strictObject({
    fencingToken: FencingToken,
    output: JsonObject.optional(),
    completeTask: z.boolean().default(false),
  }),
  reply: Run,
})

export const failRun = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:fail',
  summary: 'End a run without success, also after its lease; the task stays as it is',
  tag: 'Runs',
  access: 'authenticated',
  errors: ['not_found', 'permission_denied', 'run_holder_mismatch', 'run_not_active'],
  params: byId,
  body: z.strictObject({ reason: text(2000) }),
  reply: Run,
})

export const cancelRun = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:cancel',
  summary: 'Cancel a run, also after its lease; the task stays as it is',
  tag: 'Runs',
  access: 'authenticated',
  errors: ['not_found', 'permission_denied', 'run_holder_mismatch', 'run_not_active'],
  params: byId,
  body: z.strictObject({ reason: text(2000).optional() }),
  reply: Run,
})

export const routes = {
  startRun,
  getRun,
  listRuns,
  recordCheckpoint,
  listCheckpoints,
  succeedRun,
  failRun,
  cancelRun,
}
