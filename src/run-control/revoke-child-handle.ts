import type { Sql } from '#db/sql.ts'
import { appendEvents, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requireRunHolder } from '#runs/stop-run.ts'
import { taskEntity } from '#work/lock-task.ts'
import { selectChild } from './child-handle.sql.ts'
import type { ChildRow } from './child-handle.sql.ts'
import { endChild } from './child-runs.ts'

/**
 * Ends a handle: nothing can be done with it any more, and a child that is running is asked to stop. It
 * only takes rights away, so it needs no lease; a repeat changes nothing.
 *
 * Throws `not_found`, `run_holder_mismatch`, `permission_denied`.
 */
export async function revokeChildHandle(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason?: string | undefined },
): Promise<ChildRow> {
  const { id, reason = null } = input
  const { taskId } = found(await selectChild(sql, ctx, id), 'child handle', id)
  await lockEntities(sql, ctx, [taskEntity(taskId)])
  const child = found(await selectChild(sql, ctx, id), 'child handle', id)
  requireRunHolder(ctx, { id: child.runId, principalId: child.createdBy })
  const events = child.revokedAt ? [] : await endChild(sql, ctx, child, reason)
  if (events.length > 0) await appendEvents(sql, ctx, events)
  return found(await selectChild(sql, ctx, id), 'child handle', id)
}
