import type { PriceEntry } from '#contract/price-tables.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { normalAmount } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { insertPriceTable, settleCurrency } from './price-table.sql.ts'
import type { PriceTableRow } from './price-table.sql.ts'

export interface NewPriceTable {
  currency: string
  effectiveFrom?: string | undefined
  entries: readonly (Omit<PriceEntry, 'reasoning'> & { reasoning?: string | undefined })[]
  comment?: string | undefined
}

/**
 * Adds the next version of a tenant's prices. The first one settles the tenant's currency. What was
 * recorded before keeps the cost it was given, also when the table begins earlier.
 *
 * Throws `invalid_request` for another currency, `secret_refused`.
 */
export async function createPriceTable(
  sql: Sql,
  ctx: Ctx,
  input: NewPriceTable,
): Promise<PriceTableRow> {
  requirePermission(ctx, 'accounting.manage')
  const { currency, effectiveFrom = null, comment = null } = input
  refuseSecretsIn({ comment })
  await lockEntities(sql, ctx, [{ type: 'price_tables', id: ctx.tenantId }])
  const settled = await settleCurrency(sql, ctx, currency)
  if (settled !== currency) throw otherCurrency(settled)
  const entries = input.entries.map(wholeEntry)
  const table = { id: newId(), currency, entries, comment, effectiveFrom }
  const row = await insertPriceTable(sql, ctx, table)
  await appendEvent(sql, ctx, {
    type: 'price_table.created',
    entityType: 'price_table',
    entityId: row.id,
    entityVersion: 1,
    workspaceId: null,
    payload: {
      version: row.version,
      currency,
      effectiveFrom: row.effectiveFrom.toISOString(),
      entries: entries.length,
    },
  })
  return row
}

/** Providers bill reasoning like other output unless they say otherwise. */
function wholeEntry({ reasoning, ...entry }: NewPriceTable['entries'][number]): PriceEntry {
  return {
    provider: entry.provider,
    model: entry.model,
    input: normalAmount(entry.input),
    output: normalAmount(entry.output),
    cacheRead: entry.cacheRead && normalAmount(entry.cacheRead),
    cacheWrite: entry.cacheWrite && normalAmount(entry.cacheWrite),
    reasoning: normalAmount(reasoning ?? entry.output),
  }
}

function otherCurrency(settled: string): AppError {
  const message = `must be ${settled}, as in the tables before`
  return new AppError('invalid_request', `Cannot set prices: body.currency ${message}`, {
    details: { errors: [{ loc: 'body.currency', message }] },
  })
}
