import type { Sql } from '#db/sql.ts'
import type { Entity } from '#events/append.ts'
import { fromTrillionths } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { CAP_KINDS, capsOf, capState, reserve, toQuantity } from './caps.ts'
import type { BoundedScope, Cap, Measure, Scope } from './caps.ts'
import { selectCommitted } from './committed.sql.ts'

/** What a run may use at most, together with the runs below it; null is without a bound. */
export interface SpendingLimits {
  maxTokens: number | null
  /** Decimal text, in the currency of the tenant. */
  maxCost: string | null
}

/** The lock under which runs of a scope are started. */
export function scopeEntity(scope: Scope): Entity {
  return scope.kind === 'project'
    ? { type: 'project_runs', id: scope.projectId }
    : { type: 'principal_runs', id: scope.principalId }
}

/**
 * The budget that a new run gets under the bounds of some scopes, whose locks the caller holds until the
 * run is there: two starts cannot take the same rest. The run holds it until it ends, whatever way that
 * is. Throws `budget_exceeded` with the bound, `used` and `reserved` in the details.
 */
export async function reserveSpending(
  sql: Sql,
  ctx: Ctx,
  wish: SpendingLimits & { scopes: readonly BoundedScope[]; parentId: string | null },
): Promise<SpendingLimits> {
  const { scopes, parentId, maxTokens, maxCost } = wish
  const caps: Cap[] = []
  for (const bounded of scopes) {
    const committed = await selectCommitted(sql, ctx, { scope: bounded.scope, parentId })
    caps.push(...capsOf(bounded, committed))
  }
  const settle = async (measure: Measure, asked: number | string | null) => {
    const ofMeasure = caps.filter(({ name }) => CAP_KINDS[name].measure === measure)
    const result = reserve(asked === null ? null : toQuantity(asked), ofMeasure)
    if ('refusedBy' in result) throw await exceeded(sql, ctx, result.refusedBy, asked)
    return result.reserved
  }
  const tokens = await settle('tokens', maxTokens)
  const cost = await settle('cost', maxCost)
  return {
    maxTokens: tokens === null ? null : Number(tokens),
    maxCost: cost === null ? null : fromTrillionths(cost),
  }
}

/** What stands above the caller's reach is named, but neither which it is nor what others used there. */
async function exceeded(
  sql: Sql,
  ctx: Ctx,
  cap: Cap,
  asked: number | string | null,
): Promise<AppError> {
  const { budget, scope, projectId, principalId, left, ...state } = capState(cap)
  const { limit, used, reserved } = state
  const isShown =
    cap.scope.kind === 'principal' ||
    (await selectWorkspace(sql, ctx, cap.scope.workspaceId)) !== undefined
  const wish = asked === null ? '' : `: ${left} are left, ${asked} are asked for`
  const owner = scope === 'project' ? { projectId } : { principalId }
  return new AppError(
    'budget_exceeded',
    `Cannot start a run: ${budget} of its ${scope} has no room${isShown ? wish : ''}`,
    {
      details: isShown
        ? { budget, scope, ...owner, limit, used, reserved, left, asked }
        : { budget, scope, asked },
    },
  )
}
