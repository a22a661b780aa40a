import type { ErasedObservation } from '#contract/erasures.ts'
import type { ErasureMode } from '#contract/memory-deletion.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql, Transact } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { askToErase } from './ask-to-erase.ts'
import {
  confirmErasure,
  deleteContent,
  noteFailure,
  selectErasable,
  selectErasure,
  upsertErasure,
} from './erasure.sql.ts'
import type { ErasableRow, ErasureRow } from './erasure.sql.ts'
import type { MemoryProvider } from './recall.ts'

interface Deps {
  transact: Transact
  provider: MemoryProvider | null
}

/**
 * Erases what an observation said: its content goes with the transaction that notes the erasure, memory is
 * told afterwards. Should that fail, or this process die, memory is told again until it confirms. A repeat
 * changes nothing; a purge goes further than a redaction before it.
 *
 * Throws `not_found` for one that the caller cannot see, `permission_denied` unless it is the caller's own
 * or the caller holds `operations.manage`.
 */
export async function eraseObservation(
  { transact, provider }: Deps,
  ctx: Ctx,
  input: { id: string; mode: ErasureMode },
): Promise<ErasedObservation> {
  const row = await transact('read write', (sql) => requestErasure(sql, ctx, input))
  if (row.receipt || !provider) return replyOf(row, provider)
  const { receipt, failure } = await askToErase(provider, row, ctx)
  try {
    await transact('read write', (sql) =>
      receipt ? confirmErasure(sql, row, receipt) : noteFailure(sql, row, failure),
    )
  } catch (error) {
    // Who is suspended meanwhile may write no more, which undoes nothing: the adapter asks memory again, and
    // keeps the receipt.
    if (!(error instanceof AppError)) throw error
  }
  return replyOf({ ...row, receipt }, provider)
}

async function requestErasure(
  sql: Sql,
  ctx: Ctx,
  { id, mode }: { id: string; mode: ErasureMode },
): Promise<ErasureRow> {
  await lockEntities(sql, ctx, [{ type: 'observation', id }])
  const observation = await requireErasable(sql, ctx, id)
  const before = await selectErasure(sql, ctx, id)
  if (before && (before.mode === 'purge' || before.mode === mode)) return before
  const { eventId, workspaceId } = observation
  await deleteContent(sql, ctx, eventId)
  await appendEvent(sql, ctx, {
    type: 'observation.erased',
    entityType: 'observation',
    entityId: id,
    entityVersion: before ? 3 : 2,
    workspaceId,
    payload: { mode, recordedBy: eventId },
  })
  return await upsertErasure(sql, ctx, { observationId: id, eventId, mode })
}

async function requireErasable(sql: Sql, ctx: Ctx, id: string): Promise<ErasableRow> {
  const row = found(await selectErasable(sql, ctx, id), 'observation', id)
  if (row.authorId === ctx.actorId) return row
  const isSeen = row.visibility !== 'private' && permits(ctx.permissions, 'events.read')
  if (!isSeen && !permits(ctx.permissions, 'operations.manage')) found(undefined, 'observation', id)
  requirePermission(ctx, 'operations.manage')
  return row
}

function replyOf(row: ErasureRow, provider: MemoryProvider | null): ErasedObservation {
  const { observationId, eventId, mode, requestedBy, requestedAt, receipt } = row
  const waiting = provider ? 'pending' : 'none'
  return {
    id: observationId,
    eventId,
    mode,
    requestedBy,
    requestedAt: requestedAt.toISOString(),
    memoryStatus: receipt ? 'erased' : waiting,
    receipt,
  }
}
