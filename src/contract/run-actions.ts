import { z } from 'zod'
import {
  FencingToken,
  Id,
  JsonObject,
  page,
  pageQuery,
  PageSize,
  smallJsonObject,
  text,
  UtcInstant,
} from './common.ts'
import { route } from './route.ts'
import { RUN_REFUSALS } from './runs.ts'

const MAX_METADATA_BYTES = 16_384

export const ACTION_STATUSES = ['started', 'succeeded', 'failed', 'cancelled'] as const
const FINAL_STATUSES = ['succeeded', 'failed', 'cancelled'] as const

export const RunAction = z
  .strictObject({
    id: z.uuid(),
    runId: z.uuid(),
    /** 1 for the first action of the run. */
    sequence: z.int(),
    /** What is done, as the harness names it: `tool.shell`, `deploy`. */
    action: z.string(),
    /** What is only `started` may have had its effect, also when its run ended. */
    status: z.enum(ACTION_STATUSES),
    skill: z.string().nullable(),
    /** What the effect is known by elsewhere: a pull request, a job, an idempotency key. */
    externalReference: z.string().nullable(),
    metadata: JsonObject,
    startedAt: UtcInstant,
    finishedAt: UtcInstant.nullable(),
  })
  .meta({ id: 'RunAction' })
export type RunAction = z.infer<typeof RunAction>

const ofRun = z.strictObject({ id: Id })
const metadata = smallJsonObject(MAX_METADATA_BYTES)

export const recordAction = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/actions',
  summary: 'Record what a run is about to do, or has done',
  tag: 'Runs',
  access: 'tasks.claim',
  statuses: [201],
  errors: [...RUN_REFUSALS, 'budget_exceeded', 'secret_refused'],
  params: ofRun,
  body: z.strictObject({
    fencingToken: FencingToken,
    action: text(200),
    /** `started` before an effect outside, to be finished after it; else how it ended. */
    status: z.enum(ACTION_STATUSES).default('started'),
    skill: text(200).optional(),
    externalReference: text(1000).optional(),
    metadata: metadata.default({}),
  }),
  reply: RunAction,
})

export const finishAction = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/actions/{actionId}:finish',
  summary: 'Record how a started action ended; no budget is in the way of that',
  tag: 'Runs',
  access: 'tasks.claim',
  errors: [...RUN_REFUSALS, 'action_already_finished', 'secret_refused'],
  params: z.strictObject({ id: Id, actionId: Id }),
  body: z.strictObject({
    fencingToken: FencingToken,
    status: z.enum(FINAL_STATUSES),
    externalReference: text(1000).optional(),
    /** Added to what the action has; a name that is there is replaced. */
    metadata: metadata.default({}),
  }),
  reply: RunAction,
})

export const listActions = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/actions',
  summary: 'Actions of a run, oldest first; all of them unless limit or cursor is given',
  tag: 'Runs',
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: ofRun,
  query: z.strictObject({
    ...pageQuery,
    limit: PageSize.optional(),
    status: z.enum(ACTION_STATUSES).optional(),
  }),
  reply: page(RunAction),
})

export const routes = { recordAction, finishAction, listActions }
