import type { ChildHandle, Grant } from '#contract/child-handles.ts'
import { CHILD_RUN_ORIGIN } from '#contract/child-run.ts'
import type { NewTask } from '#contract/tasks.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requireBudget } from '#runs/budget.ts'
import { lockLiveRun, runNotActive } from '#runs/live-run.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { insertRelation } from '#relations/relation.sql.ts'
import { createTask } from '#work/create-task.ts'
import type { TaskRow } from '#work/task.sql.ts'
import { selectTask, touchTask } from '#work/task.sql.ts'
import { insertChild, selectChild, selectChildByCorrelation } from './child-handle.sql.ts'
import type { ChildRow } from './child-handle.sql.ts'
import { narrowGrant, newHandleToken } from './child.ts'

const DEFAULT_TTL_SECONDS = 86_400

export interface NewChild {
  id: string
  fencingToken: number
  correlationId: string
  title: string
  description: string
  priority?: NewTask['priority']
  grant: Grant
  cancellationPolicy: ChildHandle['cancellationPolicy']
}

/**
 * Makes a task that only the bearer of a new handle can claim, under at most the rights and the budgets
 * that are left to the run. The same correlation id again finds the same child, without its token.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`, `budget_exceeded`,
 * `child_grant_exceeds_parent`, `secret_refused`, `workspace_archived`.
 */
export async function createChildHandle(
  sql: Sql,
  ctx: Ctx,
  input: NewChild,
): Promise<{ child: ChildRow; token: string | null }> {
  const { correlationId, title, description, cancellationPolicy } = input
  refuseSecretsIn({ title, description })
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  const known = await selectChildByCorrelation(sql, ctx, { runId: run.id, correlationId })
  if (known) return { child: known, token: null }
  requireBudget(run, 'other')
  const grant = narrowGrant(ctx, run, input.grant)
  const id = newId()
  const { text: token, hash: tokenHash } = newHandleToken()
  const parent = found(await selectTask(sql, ctx, run.taskId), 'task', run.taskId)
  const task = await createTask(sql, ctx, {
    title,
    description,
    priority: input.priority ?? parent.priority,
    workspaceId: parent.workspaceId,
    origin: { kind: CHILD_RUN_ORIGIN, ref: id, ruleId: null, evidence: [] },
  })
  const spawned = await spawnedBy(sql, ctx, task, run.taskId)
  const inserted = await insertChild(sql, ctx, {
    ...grant,
    id,
    runId: run.id,
    correlationId,
    title,
    taskId: task.id,
    cancellationPolicy,
    tokenHash,
    ttlSeconds: input.grant.ttlSeconds ?? DEFAULT_TTL_SECONDS,
    notAfter: ctx.childGrant?.expiresAt ?? null,
  })
  if (!inserted) throw runNotActive(run)
  await appendEvents(sql, ctx, [
    spawned,
    {
      type: 'child_run.created',
      entityType: 'child_handle',
      entityId: id,
      entityVersion: 1,
      workspaceId: run.workspaceId,
      sessionId: claim.sessionId,
      payload: { runId: run.id, taskId: task.id, cancellationPolicy },
    },
  ])
  return { child: found(await selectChild(sql, ctx, id), 'child handle', id), token }
}

/** Relates a task that was just made, which can close no circle, to the task of its parent. */
async function spawnedBy(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow,
  parentTaskId: string,
): Promise<NewEvent> {
  const relation = { id: newId(), type: 'spawned_by', fromTaskId: task.id } as const
  await insertRelation(sql, ctx, { ...relation, toTaskId: parentTaskId })
  return {
    type: 'task.relation_added',
    entityType: 'task',
    entityId: task.id,
    entityVersion: await touchTask(sql, ctx, task.id),
    workspaceId: task.workspaceId,
    payload: { relationId: relation.id, toTaskId: parentTaskId, type: relation.type },
  }
}
