import type { SpendingBounds } from '#contract/budgets.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { changedFields, requireVersion } from '#org/version.ts'
import { changedBounds, wholeBounds } from './budget.ts'
import { selectPrincipalBudget, updateBudget } from './principal-budget.sql.ts'
import type { PrincipalBudgetRow } from './principal-budget.sql.ts'

type Change = { [Name in keyof SpendingBounds]?: SpendingBounds[Name] | undefined }

/**
 * Changes what a principal may use from its next run on; runs that go on keep what they have. A patch that
 * changes nothing writes nothing. Throws `not_found`, `version_conflict`, and `permission_denied` for
 * somebody who is bound by the budget.
 */
export async function updatePrincipalBudget(
  sql: Sql,
  ctx: Ctx,
  input: Change & { id: string; expectedVersion: number },
): Promise<PrincipalBudgetRow> {
  requirePermission(ctx, 'accounting.manage')
  const { id, expectedVersion, ...change } = input
  if (id === ctx.actorId && !permits(ctx.permissions, 'admin')) {
    throw new AppError('permission_denied', 'Cannot change the budget: it is your own', {
      details: { required: 'admin' },
    })
  }
  await lockEntities(sql, ctx, [{ type: 'principal', id }])
  const before = found(await selectPrincipalBudget(sql, ctx, id), 'principal', id)
  requireVersion('principal', before, expectedVersion)
  const budget = changedBounds(before.budget, change)
  if (changedFields(wholeBounds(before.budget), wholeBounds(budget)).length === 0) return before
  const after = await updateBudget(sql, ctx, { id, budget })
  await appendEvent(sql, ctx, {
    type: 'principal.updated',
    entityType: 'principal',
    entityId: id,
    entityVersion: after.version,
    workspaceId: null,
    payload: { changes: ['budget'], version: after.version },
  })
  return after
}
