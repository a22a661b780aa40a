import type { PriceEntry } from '#contract/price-tables.ts'
import { TOKEN_CLASSES } from '#contract/spent.ts'
import type { Tokens } from '#contract/spent.ts'
import type { Unpriced } from '#contract/usage-reports.ts'
import { fromTrillionths, toTrillionths } from '#lib/amount.ts'

/** What prices are looked up by. */
export interface ModelName {
  provider: string | null
  model: string
}

/** A price table as far as it makes costs. */
export interface Prices {
  version: number
  entries: readonly PriceEntry[]
}

export type Priced =
  | { cost: string; priceVersion: number; unpriced: null }
  | { cost: null; priceVersion: null; unpriced: Unpriced }

/** Prices are for this many tokens. */
const PER_TOKENS = 1_000_000n

/**
 * What tokens cost by a table, exact: trillionths of the currency are a whole number of tokens times a
 * whole number of trillionths for each. Undefined prices make no cost; they are never taken for zero.
 */
export function costOf(prices: Prices | undefined, name: ModelName, tokens: Tokens): Priced {
  if (!prices) return unpriced('no_price_table')
  const entry = prices.entries.find((one) => isFor(one, name))
  if (!entry) return unpriced('unknown_model')
  let cost = 0n
  for (const kind of TOKEN_CLASSES) {
    if (tokens[kind] === 0) continue
    const price = entry[kind]
    if (price === null) return unpriced('token_class')
    cost += BigInt(tokens[kind]) * (toTrillionths(price) / PER_TOKENS)
  }
  return { cost: fromTrillionths(cost), priceVersion: prices.version, unpriced: null }
}

function unpriced(reason: Unpriced): Priced {
  return { cost: null, priceVersion: null, unpriced: reason }
}

function isFor(entry: PriceEntry, { provider, model }: ModelName): boolean {
  if (!fits(entry.model, model)) return false
  return entry.provider === null || (provider !== null && fits(entry.provider, provider))
}

/** Whether a text is the one of a pattern, whose `*` at either end stands for anything. */
export function fits(pattern: string, text: string): boolean {
  const isOpenBefore = pattern.startsWith('*')
  const isOpenAfter = pattern.endsWith('*')
  const fixed = pattern.slice(isOpenBefore ? 1 : 0, isOpenAfter ? -1 : undefined)
  if (isOpenBefore && isOpenAfter) return text.includes(fixed)
  if (isOpenBefore) return text.endsWith(fixed)
  return isOpenAfter ? text.startsWith(fixed) : text === fixed
}
