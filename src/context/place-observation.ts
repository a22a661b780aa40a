import type { NewObservation } from '#contract/observations.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePlace } from '#org/permission.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { selectRun } from '#runs/run.sql.ts'
import { selectSession } from '#work/session.sql.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'

/** What an observation is bound to; the workspace decides who recalls it. */
export interface Place {
  taskId: string | null
  runId: string | null
  workspaceId: string | null
  sessionId: string | null
}

/**
 * Resolves what an observation names, inside the caller's tenant. A run brings its task; the workspace
 * is the one that was named, else the task's own (never an ancestor of it).
 *
 * Throws `not_found`, `session_owner_mismatch`, or `observation_invalid` for a run of another task.
 */
export async function placeOf(sql: Sql, ctx: Ctx, input: NewObservation): Promise<Place> {
  const { runId = null, workspaceId, sessionId = null } = input
  const task = await taskOf(sql, ctx, input)
  const workspace =
    workspaceId && found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  if (sessionId !== null) await checkSession(sql, ctx, sessionId)
  const placedIn = workspace ? workspace.id : (task?.workspaceId ?? null)
  requirePlace(ctx, placedIn)
  return {
    taskId: task?.id ?? null,
    runId,
    workspaceId: placedIn,
    sessionId,
  }
}

async function taskOf(
  sql: Sql,
  ctx: Ctx,
  { task: given, runId }: NewObservation,
): Promise<TaskRow | undefined> {
  const run = runId && found(await selectRun(sql, ctx, runId), 'run', runId)
  const ref = given ?? (run ? run.taskId : undefined)
  if (ref === undefined) return undefined
  const task = found(await selectTask(sql, ctx, ref), 'task', ref)
  if (run && run.taskId !== task.id) throw anotherTask()
  return task
}

async function checkSession(sql: Sql, ctx: Ctx, id: string): Promise<void> {
  const session = found(await selectSession(sql, ctx, id), 'session', id)
  if (session.principalId === ctx.actorId) return
  throw new AppError(
    'session_owner_mismatch',
    `Cannot record under session "${id}": it belongs to another principal`,
  )
}

function anotherTask(): AppError {
  const message = 'must be the task of the run'
  return new AppError('observation_invalid', `Cannot record the observation: task ${message}`, {
    details: { errors: [{ loc: 'body.task', message }] },
  })
}
