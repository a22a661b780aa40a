import type { SpendingBounds } from '#contract/budgets.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface PrincipalBudgetRow {
  id: string
  /** Only the bounds that are set. */
  budget: Partial<SpendingBounds>
  /** Of the principal. */
  version: number
}

export async function selectPrincipalBudget(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<PrincipalBudgetRow | undefined> {
  const [row] = await sql<PrincipalBudgetRow[]>`
    select id, budget, version
    from principals
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

export async function updateBudget(
  sql: Sql,
  ctx: Tenancy,
  { id, budget }: Pick<PrincipalBudgetRow, 'id' | 'budget'>,
): Promise<PrincipalBudgetRow> {
  const [row] = await sql<[PrincipalBudgetRow]>`
    update principals
    set budget = ${sql.json(budget)}, version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id, budget, version`
  return row
}
