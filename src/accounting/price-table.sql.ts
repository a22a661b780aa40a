import type { PriceEntry } from '#contract/price-tables.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface PriceTableRow {
  id: string
  version: number
  currency: string
  effectiveFrom: Date
  entries: PriceEntry[]
  comment: string | null
  createdBy: string
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, version, currency, effective_from, entries, comment, created_by, created_at`
}

/** Makes a currency the one of the tenant unless it has one; answers which it has. */
export async function settleCurrency(sql: Sql, ctx: Tenancy, currency: string): Promise<string> {
  const [row] = await sql<[{ currency: string }]>`
    with added as (
      insert into tenant_currencies (tenant_id, currency)
      values (${ctx.tenantId}, ${currency})
      on conflict (tenant_id) do nothing
      returning currency)
    select currency from added
    union all
    select currency from tenant_currencies where tenant_id = ${ctx.tenantId}`
  return row.currency
}

/** Adds the next version; the caller holds the lock of the tenant's price tables. */
export async function insertPriceTable(
  sql: Sql,
  ctx: Ctx,
  table: Pick<PriceTableRow, 'id' | 'currency' | 'entries' | 'comment'> & {
    effectiveFrom: string | null
  },
): Promise<PriceTableRow> {
  const { id, currency, entries, comment, effectiveFrom } = table
  const [row] = await sql<[PriceTableRow]>`
    insert into price_tables
      (tenant_id, version, id, currency, effective_from, entries, comment, created_by)
    select ${ctx.tenantId}, coalesce(max(version), 0) + 1, ${id}, ${currency},
           coalesce(${effectiveFrom}::timestamptz, clock_timestamp()), ${sql.json(entries)},
           ${comment}, ${ctx.actorId}
    from price_tables
    where tenant_id = ${ctx.tenantId}
    returning ${columns(sql)}`
  return row
}

export async function selectPriceTable(
  sql: Sql,
  ctx: Tenancy,
  version: number,
): Promise<PriceTableRow | undefined> {
  const [row] = await sql<PriceTableRow[]>`
    select ${columns(sql)}
    from price_tables
    where tenant_id = ${ctx.tenantId}
      and version = ${version}`
  return row
}

/** The table that prices what is used now. Uses index price_tables_in_force. */
export async function selectPricesInForce(
  sql: Sql,
  ctx: Tenancy,
): Promise<PriceTableRow | undefined> {
  const [row] = await sql<PriceTableRow[]>`
    select ${columns(sql)}
    from price_tables
    where tenant_id = ${ctx.tenantId}
      and effective_from <= clock_timestamp()
    order by effective_from desc, version desc
    limit 1`
  return row
}

/** Newest first. Uses index price_tables_by_time. Reads one row more than the page holds. */
export async function selectPriceTables(
  sql: Sql,
  ctx: Tenancy,
  page: PageRequest,
): Promise<PriceTableRow[]> {
  return await sql<PriceTableRow[]>`
    select ${columns(sql)}
    from price_tables
    where tenant_id = ${ctx.tenantId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}
