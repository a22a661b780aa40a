import { wholeBounds } from '#accounting/budget.ts'
import type { BoundedScope } from '#accounting/caps.ts'
import { selectPrincipalBudget } from '#accounting/principal-budget.sql.ts'
import { reserveSpending, scopeEntity } from '#accounting/reserve-spending.ts'
import type { SpendingLimits } from '#accounting/reserve-spending.ts'
import { CAPS } from '#contract/budgets.ts'
import type { SpendingBounds } from '#contract/budgets.ts'
import type { Governance } from '#contract/project-config.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import { smallerAmount } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import { requireApproved } from '#work/required-approval.ts'
import { usedUpOf } from './budget.ts'
import { countRunsBelow } from './concurrent-runs.sql.ts'
import { selectLiveRun } from './run.sql.ts'

/** Budgets of a run; null is none. */
export interface Limits extends SpendingLimits {
  maxDurationSeconds: number | null
  maxActions: number | null
}

/** What a run is asked to have at most. */
export interface AskedLimits {
  maxDurationSeconds?: number | undefined
  maxActions?: number | undefined
  maxTokens?: number | undefined
  maxCost?: string | undefined
}

/** Under which a run may start. */
export interface Admission {
  rules: WorkRules | undefined
  limits: Limits
  /** The runs that it spends from, the topmost first. */
  ancestorIds: string[]
}

/**
 * The rules of the project that a task belongs to, if any, with room for one more run under them and
 * under the budgets of its principal. Whatever bounds runs together is locked until the transaction ends,
 * so that two runs cannot take the last place or the same rest of a budget. These locks are the last that
 * a start takes and nothing is journaled under them: they neither deadlock nor put events out of order.
 *
 * Throws `budget_exceeded`, `approval_required`.
 */
export async function admitRun(
  sql: Sql,
  ctx: Ctx,
  task: { id: string; workspaceId: string | null },
  asked: AskedLimits,
): Promise<Admission> {
  const [rules, parent, own] = await Promise.all([
    readWorkRules(sql, ctx, task.workspaceId),
    readParent(sql, ctx),
    selectPrincipalBudget(sql, ctx, ctx.actorId),
  ])
  await requireApproved(sql, ctx, task.id, { rules, before: 'run' })
  const budget = wholeBounds(own?.budget ?? {})
  const wish = limitsOf(ctx, [rules?.governance, budget, parent], asked)
  const scopes = scopesOf(ctx, rules, budget)
  const runBounds = rules?.runBounds ?? []
  await lockEntities(sql, ctx, [
    ...runBounds.map(({ projectId: id }) => ({ type: 'project_runs', id })),
    ...scopes.map(({ scope }) => scopeEntity(scope)),
  ])
  for (const { projectId, workspaceId, maxConcurrentRuns: limit } of runBounds) {
    const used = await countRunsBelow(sql, ctx, { workspaceId, limit })
    if (used >= limit) throw full({ projectId, limit, used })
  }
  const parentId = parent?.id ?? null
  const spending = await reserveSpending(sql, ctx, { ...wish, scopes, parentId })
  const ancestorIds = parent ? [...parent.ancestorIds, parent.id] : []
  return { rules, limits: { ...wish, ...spending }, ancestorIds }
}

/** The run that gave this one its handle, while it goes on. Throws `budget_exceeded` when it has no rest. */
async function readParent(sql: Sql, ctx: Ctx) {
  if (!ctx.childGrant) return undefined
  const parent = await selectLiveRun(sql, ctx, ctx.childGrant.parentRunId)
  if (!parent) return undefined
  const { id, ancestorIds, tokensLeft: maxRunTokens, costLeft: maxRunCost } = parent
  const budget = usedUpOf(parent)[0]
  if (budget === undefined) return { id, ancestorIds, maxRunTokens, maxRunCost }
  throw new AppError(
    'budget_exceeded',
    `Cannot start a run: nothing of ${budget} is left to run "${id}" above it`,
    { details: { budget, scope: 'run', runId: id } },
  )
}

function scopesOf(ctx: Ctx, rules: WorkRules | undefined, budget: SpendingBounds): BoundedScope[] {
  const projects = (rules?.spendingBounds ?? []).map(
    ({ projectId, workspaceId, bounds }): BoundedScope => ({
      scope: { kind: 'project', projectId, workspaceId },
      bounds,
    }),
  )
  if (CAPS.every((name) => budget[name] === null)) return projects
  const scope = { kind: 'principal', principalId: ctx.actorId } as const
  return [...projects, { scope, bounds: budget }]
}

type RunBounds = Partial<Pick<Governance, 'maxRunDurationSeconds' | 'maxRunActions'>> &
  Pick<SpendingBounds, 'maxRunTokens' | 'maxRunCost'>

/** The smallest of what is asked for, what a child handle leaves, and what others allow. */
function limitsOf(
  { childGrant }: Ctx,
  allowed: readonly (RunBounds | undefined)[],
  asked: AskedLimits,
): Limits {
  const costs = [asked.maxCost, childGrant?.maxCost, ...allowed.map((one) => one?.maxRunCost)]
  return {
    maxDurationSeconds: smallest([
      asked.maxDurationSeconds,
      childGrant?.maxDurationSeconds,
      ...allowed.map((one) => one?.maxRunDurationSeconds),
    ]),
    maxActions: smallest([
      asked.maxActions,
      childGrant?.maxActions,
      ...allowed.map((one) => one?.maxRunActions),
    ]),
    maxTokens: smallest([
      asked.maxTokens,
      childGrant?.maxTokens,
      ...allowed.map((one) => one?.maxRunTokens),
    ]),
    maxCost: given(costs).reduce<string | null>(
      (least, cost) => (least === null ? cost : smallerAmount(least, cost)),
      null,
    ),
  }
}

function smallest(limits: readonly (number | null | undefined)[]): number | null {
  const all = given(limits)
  return all.length > 0 ? Math.min(...all) : null
}

function given<T>(values: readonly (T | null | undefined)[]): T[] {
  return values.filter((value) => value !== null && value !== undefined)
}

function full(details: { projectId: string; limit: number; used: number }): AppError {
  return new AppError(
    'budget_exceeded',
    `Cannot start a run: project "${details.projectId}" has as many going on as it may`,
    { details: { budget: 'maxConcurrentRuns', ...details } },
  )
}
