import type { Hono } from 'hono'
import * as budgets from '#contract/budgets.ts'
import * as tables from '#contract/price-tables.ts'
import type { PriceTable } from '#contract/price-tables.ts'
import { getUsage } from '#contract/usage-totals.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { sha256 } from '#lib/id.ts'
import { placesOf } from '#work/places-of.ts'
import { createPriceTable } from './create-price-table.ts'
import { keyPage, keyPageOf } from './key-page.ts'
import { selectPricesInForce, selectPriceTable, selectPriceTables } from './price-table.sql.ts'
import type { PriceTableRow } from './price-table.sql.ts'
import { readPrincipalBudget, readProjectBudget, showPrincipalBudget } from './read-budgets.ts'
import { groupFields, selectTotals } from './totals.sql.ts'
import { updatePrincipalBudget } from './update-principal-budget.ts'

/** Prices, budgets, and what was used and cost. */
export function accountingRoutes(app: Hono, deps: Deps): void {
  bindBudgets(app, deps)
  bindPrices(app, deps)

  bind(app, deps, getUsage, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const { groupBy } = narrowing
    // Hashed: names of models are long.
    const page = keyPage(`usage?${sha256(JSON.stringify(narrowing)).slice(0, 32)}`, query)
    const filter = { ...narrowing, groupBy, workspaceIds: await placesOf(sql, ctx, query) }
    const rows = await selectTotals(sql, ctx, filter, page)
    return keyPageOf(page, rows, ({ key, spent }) => ({ ...groupFields(groupBy, key), ...spent }))
  })
}

function bindBudgets(app: Hono, deps: Deps): void {
  bind(app, deps, budgets.getPrincipalBudget, async (sql, ctx, { params: { id } }) =>
    readPrincipalBudget(sql, ctx, id),
  )

  bind(app, deps, budgets.updatePrincipalBudget, async (sql, ctx, input) => {
    const { params, body, expectedVersion } = input
    const row = await updatePrincipalBudget(sql, ctx, { ...params, ...body, expectedVersion })
    return await showPrincipalBudget(sql, ctx, row)
  })

  bind(app, deps, budgets.getProjectBudget, async (sql, ctx, { params: { id } }) =>
    readProjectBudget(sql, ctx, id),
  )
}

function bindPrices(app: Hono, deps: Deps): void {
  bind(app, deps, tables.createPriceTable, async (sql, ctx, { body }) =>
    tableReply(await createPriceTable(sql, ctx, body)),
  )

  bind(app, deps, tables.listPriceTables, async (sql, ctx, { query }) => {
    const page = pageRequest('price-tables', query)
    return pageOf(page, await selectPriceTables(sql, ctx, page), tableReply)
  })

  bind(app, deps, tables.getPriceTable, async (sql, ctx, { params: { version } }) => {
    const row =
      version === 'current'
        ? await selectPricesInForce(sql, ctx)
        : await selectPriceTable(sql, ctx, version)
    return tableReply(found(row, 'price table', String(version)))
  })
}

function tableReply({ effectiveFrom, createdAt, ...row }: PriceTableRow): PriceTable {
  return {
    ...row,
    effectiveFrom: effectiveFrom.toISOString(),
    createdAt: createdAt.toISOString(),
  }
}
