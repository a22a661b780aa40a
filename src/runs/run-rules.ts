import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import { requireApproved } from '#work/required-approval.ts'
import { countRunsBelow } from './concurrent-runs.sql.ts'

/** Budgets of a run; null is none. */
export interface Limits {
  maxDurationSeconds: number | null
  maxActions: number | null
}

/**
 * The rules of the project that a task belongs to, if any, with room for one more run under them: the
 * projects that bound how many go on are locked until the transaction ends, so that two runs cannot take
 * the last place. These locks are the last that a start takes and nothing is journaled under them: they
 * neither deadlock nor put events out of order. Throws `budget_exceeded`, `approval_required`.
 */
export async function admitRun(
  sql: Sql,
  ctx: Ctx,
  task: { id: string; workspaceId: string | null },
): Promise<WorkRules | undefined> {
  const rules = await readWorkRules(sql, ctx, task.workspaceId)
  if (!rules) return undefined
  await requireApproved(sql, ctx, task.id, { rules, before: 'run' })
  const bounds = rules.runBounds
  if (bounds.length === 0) return rules
  await lockEntities(
    sql,
    ctx,
    bounds.map(({ projectId: id }) => ({ type: 'project_runs', id })),
  )
  for (const { projectId, workspaceId, maxConcurrentRuns: limit } of bounds) {
    const used = await countRunsBelow(sql, ctx, { workspaceId, limit })
    if (used >= limit) throw full({ projectId, limit, used })
  }
  return rules
}

/** The smallest of what is asked for, what a child handle leaves, and what the project allows. */
export function limitsOf(
  ctx: Ctx,
  rules: WorkRules | undefined,
  asked: { maxDurationSeconds?: number | undefined; maxActions?: number | undefined },
): Limits {
  const { childGrant } = ctx
  return {
    maxDurationSeconds: smallest([
      asked.maxDurationSeconds,
      childGrant?.maxDurationSeconds,
      rules?.governance.maxRunDurationSeconds,
    ]),
    maxActions: smallest([
      asked.maxActions,
      childGrant?.maxActions,
      rules?.governance.maxRunActions,
    ]),
  }
}

function smallest(limits: readonly (number | null | undefined)[]): number | null {
  const given = limits.filter((limit) => limit !== null && limit !== undefined)
  return given.length > 0 ? Math.min(...given) : null
}

function full(details: { projectId: string; limit: number; used: number }): AppError {
  return new AppError(
    'budget_exceeded',
    `Cannot start a run: project "${details.projectId}" has as many going on as it may`,
    { details: { budget: 'maxConcurrentRuns', ...details } },
  )
}
