import type { ControlKind } from '#contract/control-messages.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from '#org/permission.ts'
import { requireVersion } from '#org/version.ts'
import { runNotActive } from '#runs/live-run.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { markCancelRequested } from '#runs/request-cancel.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { lockRunTree } from './child-runs.ts'
import { messageAccepted, messageSettled } from './control-events.ts'
import {
  insertMessage,
  selectMessage,
  updateMessagesSuperseded,
  updateMessageSettled,
} from './control-message.sql.ts'
import type { MessageRow } from './control-message.sql.ts'
import { forceCancel } from './cancel-run.ts'

/** What a message takes the place of. */
const SUPERSEDES: Readonly<Record<ControlKind, readonly ControlKind[]>> = {
  queue: [],
  steer: [],
  redirect: ['queue', 'steer', 'redirect'],
  request_cancel: [],
  force_cancel: ['queue', 'steer', 'redirect', 'request_cancel'],
}

/** Where a message that needs no holder is applied. */
const FORCED = 'forced'

/**
 * Says something to a running run. The holder learns it from its run's context and acknowledges it; a
 * `redirect` takes the place of the directions not applied yet. `request_cancel` marks the run;
 * `force_cancel` cancels it and releases its claim at once, and asks its children to stop.
 *
 * Throws `not_found`, `permission_denied`, `run_not_active`, `version_conflict`, `secret_refused`.
 */
export async function sendControlMessage(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    kind: ControlKind
    message?: string | undefined
    expectedRunVersion: number
  },
): Promise<MessageRow> {
  const { kind, message = null, expectedRunVersion } = input
  if (kind === 'force_cancel') requirePermission(ctx, 'claims.manage')
  refuseSecretsIn({ message })
  const { run, children } = await lockRunTree(sql, ctx, input.id)
  if (run.status !== 'running') throw runNotActive(run)
  requireVersion('run', run, expectedRunVersion)
  const events: NewEvent[] = []
  if (kind === 'request_cancel') {
    events.push(...(await markCancelRequested(sql, ctx, run, { reason: message })))
  }
  const id = newId()
  events.push(...(await accept(sql, ctx, run, { id, kind, message })))
  if (kind === 'force_cancel') events.push(...(await forceCancel(sql, ctx, { run, children })))
  await appendEvents(sql, ctx, events)
  return found(await selectMessage(sql, ctx, { id, runId: run.id }), 'message', id)
}

async function accept(
  sql: Sql,
  ctx: Ctx,
  run: RunRow,
  message: Pick<MessageRow, 'id' | 'kind' | 'message'>,
): Promise<NewEvent[]> {
  const { id, kind } = message
  const inserted = await insertMessage(sql, ctx, { ...message, runId: run.id })
  if (!inserted) throw runNotActive(run)
  const { sequence } = inserted
  const by = { runId: run.id, sequence, kinds: SUPERSEDES[kind] }
  const settled = by.kinds.length > 0 ? await updateMessagesSuperseded(sql, ctx, by) : []
  if (kind === 'force_cancel') {
    const applied = { id, status: 'applied', safeBoundary: FORCED } as const
    const row = await updateMessageSettled(sql, ctx, { ...applied, note: null, fencingToken: null })
    if (row) settled.push(row)
  }
  return [
    messageAccepted(run, { id, kind, sequence }),
    ...settled.map((one) => messageSettled(run, one)),
  ]
}
