import { TOKEN_CLASSES } from '#contract/spent.ts'
import type { Spent, TokenClass, Tokens } from '#contract/spent.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** What a row of use adds: tokens are whole, amounts decimal text, null where not known. */
export interface Spending {
  tokens: Tokens
  unpricedTokens: number
  cost: string | null
  reportedUsd: string | null
}

/** The column that counts a class of tokens. */
export const TOKEN_COLUMNS: Readonly<Record<TokenClass, string>> = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_tokens',
  cacheWrite: 'cache_write_tokens',
  reasoning: 'reasoning_tokens',
}

/** The largest count that a JSON number holds exactly; no sum is shown larger. */
const MAX_COUNT = '9007199254740991'

/**
 * `Spent` of the contract as a jsonb value: of one row `of` (all zero when it is missing), or added up
 * over a group of them.
 */
export function spentObject(sql: Sql, ctx: Tenancy, of: string, kind: 'row' | 'sum') {
  const column = (name: string) =>
    kind === 'row' ? sql`${sql(`${of}.${name}`)}` : sql`sum(${sql(`${of}.${name}`)})`
  const capped = (value: ReturnType<typeof column>) =>
    sql`least(coalesce(${value}, 0), ${MAX_COUNT}::numeric)`
  const { input, output, cacheRead, cacheWrite, reasoning } = TOKEN_COLUMNS
  const total = TOKEN_CLASSES.map((name) => column(TOKEN_COLUMNS[name])).reduce(
    (sum, value) => sql`${sum} + ${value}`,
  )
  const cost = column('cost')
  return sql`
    jsonb_build_object(
      'tokens', jsonb_build_object(
        'input', ${capped(column(input))},
        'output', ${capped(column(output))},
        'cacheRead', ${capped(column(cacheRead))},
        'cacheWrite', ${capped(column(cacheWrite))},
        'reasoning', ${capped(column(reasoning))}),
      'totalTokens', ${capped(total)},
      'cost', trim_scale(${cost})::text,
      'currency', case when ${cost} is not null then (
        select currency
        from tenant_currencies
        where tenant_id = ${ctx.tenantId}) end,
      'unpricedTokens', ${capped(column('unpriced_tokens'))},
      'reportedUsd', trim_scale(${column('reported_usd')})::text)`
}

/** A row in which `Spent` of the contract stands ready. */
export interface SpentRow {
  spent: Spent
}
