import type { TaskChanges } from '#contract/tasks.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { requireVersion } from '#org/version.ts'
import { requireCustomFields } from '#task-types/custom-fields.ts'
import { categoryOf, requireTransition } from '#task-types/lifecycle.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { requireFree } from './live-claim.ts'
import { lockTask } from './lock-task.ts'
import type { LockedTask } from './locked-task.sql.ts'
import { requireAllowedPriority } from './project-rules.ts'
import { requireNoRun } from './release-claim.ts'
import {
  changedTaskFields,
  differingFields,
  resolveReferences,
  revisesTask,
} from './task-fields.ts'
import { publicIdOf } from './task.ts'
import { insertReviser, selectTask, updateTaskFields } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

/**
 * Changes the fields given. The status of a claimed task changes only under its claim; a status that
 * is not one of work going on ends the claim. A claim that is shown is always checked. A change of
 * nothing writes nothing.
 *
 * Throws `not_found`, `version_conflict`, `stale_claim`, `claim_holder_mismatch`, `task_claimed`,
 * `run_in_progress`, `invalid_transition`, `invalid_custom_fields`, `workspace_archived`,
 * `invalid_request` for a priority that the project does not allow.
 */
export async function updateTask(
  sql: Sql,
  ctx: Ctx,
  input: TaskChanges & { ref: string; expectedVersion: number },
  compile: CompileSchema = compileSchema,
): Promise<TaskRow> {
  const { ref, expectedVersion, status, claimId, fencingToken, ...changes } = input
  const task = await lockTask(sql, ctx, ref)
  const moves = status !== undefined && status !== task.status
  const claim =
    moves || claimId !== undefined
      ? await requireFree(sql, ctx, { taskId: task.id, claimId, fencingToken, locked: task })
      : task.claim
  requireVersion('task', task, expectedVersion)
  const fields = await resolveReferences(sql, ctx, changedTaskFields(task, changes), task)
  await requireAllowedPriority(sql, ctx, fields, task)
  const changed = [...differingFields(task, fields), ...(moves ? ['status'] : [])]
  if (changed.length === 0) return found(await selectTask(sql, ctx, task.id), 'task', ref)
  if (changed.includes('customFields')) {
    await checkCustomFields(sql, ctx, { ...task, ...fields }, compile)
  }

  const { ended, ...state } = await moveTask(sql, ctx, task, { status, claim })
  const revises = revisesTask(changed)
  await updateTaskFields(sql, ctx, { id: task.id, ...fields, ...state, revises })
  if (revises) await insertReviser(sql, ctx, task.id)
  const after = found(await selectTask(sql, ctx, task.id), 'task', ref)
  await appendEvents(sql, ctx, [...ended, taskUpdated(after, changed)])
  return after
}

/** Brings the task to a status by way of its lifecycle; what is not work going on ends the claim. */
async function moveTask(
  sql: Sql,
  ctx: Ctx,
  task: LockedTask,
  move: { status: string | undefined; claim: ClaimRow | undefined },
): Promise<Pick<TaskRow, 'status' | 'statusCategory'> & { ended: NewEvent[] }> {
  const { status = task.status, claim } = move
  if (status === task.status) return { status, statusCategory: task.statusCategory, ended: [] }
  requireTransition(task, status, 'update')
  const statusCategory = categoryOf(task.lifecycle, status)
  const ended = statusCategory === 'active' ? [] : await endClaimOf(sql, ctx, task, claim)
  return { status, statusCategory, ended }
}

async function checkCustomFields(
  sql: Sql,
  ctx: Ctx,
  task: Pick<TaskRow, 'typeKey' | 'typeVersion' | 'customFields'>,
  compile: CompileSchema,
): Promise<void> {
  const { typeKey: key, typeVersion: version } = task
  const type = found(await selectTaskType(sql, ctx, { key, version }), 'task type', key)
  requireCustomFields(type, task.customFields, compile)
}

/** Ends the claim, live or not, of a task that the caller moves away from being worked on. */
async function endClaimOf(
  sql: Sql,
  ctx: Ctx,
  task: LockedTask,
  claim: ClaimRow | undefined,
): Promise<NewEvent[]> {
  if (!claim) return []
  if (claim.isLive) requireNoRun(claim, task.runningRunId)
  return await endClaim(
    sql,
    ctx,
    claim,
    claim.isLive
      ? { status: 'released', reason: 'task_moved', releaseTask: false }
      : { status: 'expired', reason: 'lease_expired', releaseTask: false },
  )
}

function taskUpdated(task: TaskRow, changes: string[]): NewEvent {
  return {
    type: 'task.updated',
    entityType: 'task',
    entityId: task.id,
    entityVersion: task.version,
    workspaceId: task.workspaceId,
    payload: { publicId: publicIdOf(task.number), changes, version: task.version },
  }
}
