import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { lockLiveRun } from '#runs/live-run.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { messageSettled } from './control-events.ts'
import { selectMessage, selectMessages, updateMessageSettled } from './control-message.sql.ts'
import type { MessageRow } from './control-message.sql.ts'

/**
 * Records what became of the oldest message that is still accepted: the holder of the run's live claim
 * takes them in the order they were sent. Budgets are not asked.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`, `secret_refused`,
 * `control_message_settled`, `control_message_out_of_order` with `details.nextMessageId`.
 */
export async function acknowledgeControlMessage(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    messageId: string
    fencingToken: number
    status: 'applied' | 'rejected' | 'superseded'
    safeBoundary?: string | undefined
    note?: string | undefined
  },
): Promise<MessageRow> {
  const { messageId: id, status, safeBoundary = null, note = null, fencingToken } = input
  refuseSecretsIn({ note })
  const { run } = await lockLiveRun(sql, ctx, input)
  const message = found(await selectMessage(sql, ctx, { id, runId: run.id }), 'message', id)
  if (message.status !== 'accepted') throw settledBefore(message)
  const accepted = { runId: run.id, after: 0, limit: 1, status: 'accepted' } as const
  const [next] = await selectMessages(sql, ctx, accepted)
  if (next && next.id !== id) throw outOfOrder(message, next)
  const row = { id, status, safeBoundary, note, fencingToken }
  const settled = await updateMessageSettled(sql, ctx, row)
  if (!settled) throw settledBefore(message)
  await appendEvents(sql, ctx, [messageSettled(run, settled)])
  return found(await selectMessage(sql, ctx, { id, runId: run.id }), 'message', id)
}

function settledBefore({ id, status }: MessageRow): AppError {
  return new AppError('control_message_settled', `Cannot acknowledge message "${id}": ${status}`, {
    details: { messageStatus: status },
  })
}

function outOfOrder(message: MessageRow, next: MessageRow): AppError {
  return new AppError(
    'control_message_out_of_order',
    `Cannot acknowledge message "${message.id}": an earlier one is not yet`,
    { details: { nextMessageId: next.id, nextSequence: next.sequence } },
  )
}
