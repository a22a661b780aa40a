import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { markCancelRequested } from '#runs/request-cancel.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { transitionsFrom } from '#task-types/lifecycle.ts'
import { taskEntity } from '#work/lock-task.ts'
import { lockTaskRow } from '#work/locked-task.sql.ts'
import { updateTaskStatus } from '#work/task.sql.ts'
import { publicIdOf } from '#work/task.ts'
import { selectCascading, updateChildRevoked } from './child-handle.sql.ts'
import type { ChildRow } from './child-handle.sql.ts'

/** A run under its task's lock, with the children it takes along, each under its own. */
export interface RunTree {
  run: RunRow
  children: ChildRow[]
}

/**
 * Locks the task of a run and those of the children that are cancelled with it, then reads both as they
 * are under the locks. A child is added under the lock of its parent, so the second look is the last.
 * Throws `not_found`.
 */
export async function lockRunTree(sql: Sql, ctx: Ctx, id: string): Promise<RunTree> {
  const { taskId } = found(await selectRun(sql, ctx, id), 'run', id)
  const before = await selectCascading(sql, ctx, id)
  await lockEntities(sql, ctx, [taskId, ...before.map((child) => child.taskId)].map(taskEntity))
  const added = (await selectCascading(sql, ctx, id)).filter(
    (child) => !before.some((known) => known.id === child.id),
  )
  if (added.length > 0) {
    await lockEntities(
      sql,
      ctx,
      added.map((child) => taskEntity(child.taskId)),
    )
  }
  const run = found(await selectRun(sql, ctx, id), 'run', id)
  return { run, children: await selectCascading(sql, ctx, id) }
}

/**
 * Asks running children to stop, and revokes the handles of those nobody works on; the caller appends
 * the events. How a child is stopped is its holder's: it cancels its own children in turn.
 */
export async function askChildrenToStop(
  sql: Sql,
  ctx: Ctx,
  children: readonly ChildRow[],
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  for (const child of children) {
    const run = await runningRun(sql, ctx, child)
    const stopped = run
      ? await markCancelRequested(sql, ctx, run, { reason: 'parent_cancelled' })
      : await revoke(sql, ctx, child, 'parent_cancelled')
    events.push(...stopped)
  }
  return events
}

/** Ends a handle whose task is locked, and asks the run under it to stop; the caller appends the events. */
export async function endChild(
  sql: Sql,
  ctx: Ctx,
  child: ChildRow,
  reason: string | null,
): Promise<NewEvent[]> {
  const run = await runningRun(sql, ctx, child)
  return [
    ...(await revoke(sql, ctx, child, reason)),
    ...(run ? await markCancelRequested(sql, ctx, run, { reason: 'handle_revoked' }) : []),
  ]
}

async function runningRun(sql: Sql, ctx: Ctx, child: ChildRow): Promise<RunRow | undefined> {
  if (!child.isClaimed || child.newestRunId === null) return undefined
  // A child is stopped with its parent wherever its task has been moved to.
  const { tenantId } = ctx
  const run = await selectRun(sql, { tenantId }, child.newestRunId)
  return run?.status === 'running' ? run : undefined
}

async function revoke(
  sql: Sql,
  ctx: Ctx,
  child: ChildRow,
  reason: string | null,
): Promise<NewEvent[]> {
  if (!(await updateChildRevoked(sql, ctx, { id: child.id, reason }))) return []
  return [
    {
      type: 'child_run.revoked',
      entityType: 'child_handle',
      entityId: child.id,
      entityVersion: 2,
      workspaceId: child.workspaceId,
      payload: { runId: child.runId, taskId: child.taskId },
    },
    ...(await cancelTask(sql, ctx, child.taskId)),
  ]
}

/** Nobody can claim the task any more: it is cancelled where it waits and its lifecycle knows how. */
async function cancelTask(sql: Sql, ctx: Ctx, id: string): Promise<NewEvent[]> {
  const task = await lockTaskRow(sql, ctx, id)
  if (task?.statusCategory !== 'open') return []
  const cancelled = transitionsFrom(task.lifecycle, task.status).find(
    ({ systemStatusCategory }) => systemStatusCategory === 'terminal_cancelled',
  )
  if (!cancelled) return []
  const { status, systemStatusCategory: statusCategory } = cancelled
  const { version } = await updateTaskStatus(sql, ctx, { id, status, statusCategory })
  return [
    {
      type: 'task.updated',
      entityType: 'task',
      entityId: id,
      entityVersion: version,
      workspaceId: task.workspaceId,
      payload: { publicId: publicIdOf(task.number), changes: ['status'], version },
    },
  ]
}
