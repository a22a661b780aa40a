import { z } from 'zod'
import { FencingToken, Id, text } from './common.ts'
import { route } from './route.ts'
import { Checkpoint, Run, RUN_REFUSALS } from './runs.ts'
import { Task } from './tasks.ts'

const byId = z.strictObject({ id: Id })

export const suspendRun = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:suspend',
  summary: 'Stop a run that cannot go on now: its claim is released, its task can be claimed again',
  tag: 'Runs',
  access: 'tasks.claim',
  errors: [...RUN_REFUSALS, 'approval_already_decided'],
  params: byId,
  body: z.strictObject({
    fencingToken: FencingToken,
    reason: text(2000),
    waitingForApprovalId: Id.optional(),
  }),
  reply: Run,
})

/** What the next one needs in order to go on; nothing that is only true on the machine it was written on. */
const HandoffData = z.strictObject({
  summary: text(20_000),
  nextSteps: z.array(text(2000)).max(100).default([]),
  /** Ids or addresses of artifacts, observations, commits. */
  evidenceRefs: z.array(text(1000)).max(200).default([]),
})

export const handOffRun = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:handoff',
  summary: 'Hand a task over: a last checkpoint, and the run suspended, in one step',
  tag: 'Runs',
  access: 'tasks.claim',
  errors: [...RUN_REFUSALS, 'idempotency_key_required', 'secret_refused'],
  idempotencyKey: 'required',
  params: byId,
  body: z.strictObject({
    fencingToken: FencingToken,
    reason: z.literal('human_harness_handoff').default('human_harness_handoff'),
    checkpoint: z.strictObject({
      kind: z.literal('handoff').default('handoff'),
      data: HandoffData,
    }),
  }),
  reply: z
    .strictObject({
      run: Run,
      task: Task,
      checkpoint: Checkpoint,
      /** Taken before the handoff: who follows the journal from here sees it. */
      eventCursor: z.string(),
      /** How the work is taken up: claim the task, start a run, read that run's context. */
      resume: z.strictObject({
        taskId: z.uuid(),
        taskPublicId: z.string(),
        nextAttempt: z.int(),
        checkpointId: z.uuid(),
        claimPath: z.string(),
        startRunPath: z.string(),
      }),
    })
    .meta({ id: 'Handoff' }),
})

export const requestCancel = route({
  method: 'POST',
  path: '/api/v1/runs/{id}:request-cancel',
  summary: 'Ask the holder of a run to stop it; the first request stays',
  tag: 'Runs',
  access: 'tasks.write',
  errors: ['not_found', 'run_not_active'],
  params: byId,
  body: z.strictObject({ reason: text(2000).optional() }),
  reply: Run,
})

export const routes = { suspendRun, handOffRun, requestCancel }
