import type { CapState, SpendingBounds } from '#contract/budgets.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { selectProject } from '#projects/project.sql.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import { wholeBounds } from './budget.ts'
import { capsOf, capState } from './caps.ts'
import type { BoundedScope } from './caps.ts'
import { selectCommitted } from './committed.sql.ts'
import { selectPrincipalBudget } from './principal-budget.sql.ts'
import type { PrincipalBudgetRow } from './principal-budget.sql.ts'

/** Where the bounds of a scope stand now. */
async function readCaps(sql: Sql, ctx: Ctx, bounded: BoundedScope): Promise<CapState[]> {
  const committed = await selectCommitted(sql, ctx, { scope: bounded.scope, parentId: null })
  return capsOf(bounded, committed).map(capState)
}

/** A principal's budget as the contract shows it. */
export async function showPrincipalBudget(sql: Sql, ctx: Ctx, row: PrincipalBudgetRow) {
  const { id: principalId, version } = row
  const budget = wholeBounds(row.budget)
  const scope = { kind: 'principal', principalId } as const
  return { principalId, budget, caps: await readCaps(sql, ctx, { scope, bounds: budget }), version }
}

/**
 * One's own, or another's for who may read accounts of the whole tenant: it adds up what was used anywhere.
 * Throws `not_found`, `permission_denied`.
 */
export async function readPrincipalBudget(sql: Sql, ctx: Ctx, id: string) {
  if (id !== ctx.actorId) {
    requirePermission(ctx, 'accounting.read')
    if (ctx.reach) throw limited()
  }
  const row = found(await selectPrincipalBudget(sql, ctx, id), 'principal', id)
  return await showPrincipalBudget(sql, ctx, row)
}

function limited(): AppError {
  return new AppError('permission_denied', 'Cannot show the budget to a limited credential')
}

/** What bounds the runs of a project; bounds set above the caller's reach are not shown. */
export async function readProjectBudget(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<{ projectId: string; budget: SpendingBounds; caps: CapState[] }> {
  const project = found(await selectProject(sql, ctx, id), 'project', id)
  const rules = await readWorkRules(sql, ctx, project.workspaceId)
  const caps: CapState[] = []
  for (const { projectId, workspaceId, bounds } of rules?.spendingBounds ?? []) {
    if (!(await selectWorkspace(sql, ctx, workspaceId))) continue
    const scope = { kind: 'project', projectId, workspaceId } as const
    caps.push(...(await readCaps(sql, ctx, { scope, bounds })))
  }
  return { projectId: project.id, budget: wholeBounds(rules?.governance ?? {}), caps }
}
