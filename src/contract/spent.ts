import { z } from 'zod'

/** Kinds of tokens that are priced apart; no token is in two of them. */
export const TOKEN_CLASSES = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const
export type TokenClass = (typeof TOKEN_CLASSES)[number]

/** A decimal amount of money as text, exact: `12.5`, `0.000003`. */
export const Amount = z
  .string()
  .regex(/^(0|[1-9]\d{0,11})(\.\d{1,12})?$/, 'must be an amount such as 12.50')

/** An amount in a reply, which may be the sum of many. */
const AmountSum = z.string().regex(/^\d+(\.\d{1,12})?$/)

/** An ISO 4217 code. */
export const Currency = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters')

const count = z.int().min(0)

/** Tokens by class: `input` without what came from or went into the cache, `output` without `reasoning`. */
export const Tokens = z
  .strictObject({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
  })
  .meta({ id: 'Tokens' })
export type Tokens = z.infer<typeof Tokens>

const spent = {
  tokens: Tokens,
  /** All classes together. */
  totalTokens: count,
  /** By the price tables, each report by the one in force at its time; null where nothing was priced. */
  cost: AmountSum.nullable(),
  currency: z.string().nullable(),
  /** Tokens that no price was known for: they are missing in `cost`. */
  unpricedTokens: count,
  /** What the agents' programs said it cost, in US dollars by lists of their own; an estimate. */
  reportedUsd: AmountSum.nullable(),
}

/** What was used and what it cost. */
export const Spent = z.strictObject(spent).meta({ id: 'Spent' })
export type Spent = z.infer<typeof Spent>

export const spentFields = spent
