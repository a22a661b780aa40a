import { z } from 'zod'
import { Instant, page, pageQuery, text, UtcInstant } from './common.ts'
import { route } from './route.ts'
import { Currency } from './spent.ts'

/** Visible text of one line: names of models and providers as the programs spell them. */
export function nameOf(max: number) {
  return text(max).regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be visible text of one line')
}

/** Exact text, or with `*` at either end for anything there. */
const pattern = (max: number) => nameOf(max).regex(/^\*?[^*]*\*?$/, 'must hold * only at its ends')

/** Money for 1,000,000 tokens, at most six decimals: then the price of one token is exact. */
const Price = z
  .string()
  .regex(/^(0|[1-9]\d{0,8})(\.\d{1,6})?$/, 'must be a price per million tokens such as 2.50')

const MAX_ENTRIES = 500

const prices = {
  input: Price,
  output: Price,
  /** Null: not known, so that no cost is made up for such tokens. */
  cacheRead: Price.nullable(),
  cacheWrite: Price.nullable(),
}

/** What models cost that fit both patterns. */
export const PriceEntry = z
  .strictObject({
    /** Null: any, also where the provider is not told. */
    provider: z.string().nullable(),
    model: z.string(),
    ...prices,
    reasoning: Price,
  })
  .meta({ id: 'PriceEntry' })
export type PriceEntry = z.infer<typeof PriceEntry>

const GivenEntry = z.strictObject({
  provider: pattern(100).nullable().default(null),
  model: pattern(200),
  ...prices,
  cacheRead: prices.cacheRead.default(null),
  cacheWrite: prices.cacheWrite.default(null),
  /** That of output unless given. */
  reasoning: Price.optional(),
})

export const PriceTable = z
  .strictObject({
    id: z.uuid(),
    /** 1 for the first of the tenant; a table never changes. */
    version: z.int().positive(),
    currency: Currency,
    effectiveFrom: UtcInstant,
    /** The first that fits counts. */
    entries: z.array(PriceEntry),
    comment: z.string().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'PriceTable' })
export type PriceTable = z.infer<typeof PriceTable>

const tag = 'Accounting'

export const createPriceTable = route({
  method: 'POST',
  path: '/api/v1/price-tables',
  summary: 'Set prices from a moment on; costs recorded before stay as they are',
  tag,
  access: 'accounting.manage',
  statuses: [201],
  errors: ['secret_refused'],
  body: z.strictObject({
    /** That of the tables before, once there is one. */
    currency: Currency,
    /** Now unless given. Of several the one that begins last is in force, then the newest version. */
    effectiveFrom: Instant.optional(),
    entries: z.array(GivenEntry).max(MAX_ENTRIES),
    comment: text(2000).optional(),
  }),
  reply: PriceTable,
})

export const listPriceTables = route({
  method: 'GET',
  path: '/api/v1/price-tables',
  summary: 'Price tables, newest first',
  tag,
  access: 'accounting.read',
  errors: ['invalid_limit', 'invalid_cursor'],
  query: z.strictObject(pageQuery),
  reply: page(PriceTable),
})

export const getPriceTable = route({
  method: 'GET',
  path: '/api/v1/price-tables/{version}',
  summary: 'One price table; `current` is the one in force',
  tag,
  access: 'accounting.read',
  errors: ['not_found'],
  params: z.strictObject({
    version: z.union([
      z.literal('current'),
      z
        .string()
        .regex(/^[1-9]\d{0,8}$/, 'must be a version or current')
        .transform(Number),
    ]),
  }),
  reply: PriceTable,
})

export const routes = { createPriceTable, listPriceTables, getPriceTable }
