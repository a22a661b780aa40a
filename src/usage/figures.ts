import { TOKEN_CLASSES } from '#contract/spent.ts'
import type { Tokens } from '#contract/spent.ts'

/** Amounts that only grow while a program counts on: tokens by class, or trillionths of a dollar. */
export type Figures = Readonly<Record<string, bigint>>

/** What a program used between two of its totals, and whether it had begun to count anew. */
export interface Counted {
  used: Figures
  isNewSession: boolean
}

/**
 * What is to be added when a total `now` becomes known of which `before` is the next earlier one and
 * `after` the next later one, in the order in which the program counted.
 *
 * From one total to the next a program used their difference; when any figure fell it began anew and the
 * later total counts whole. So the sum over a series depends on its order alone. A total that arrives
 * late takes the place of the step that was counted over it: what is added is the two new steps less
 * the old one, which is never negative.
 */
export function countTotal(now: Figures, before: Figures | null, after: Figures | null): Counted {
  const toNow = step(before, now)
  if (after === null) return toNow
  const over = step(before, after)
  const onward = step(now, after)
  const used = mapFigures(
    now,
    (value, kind) =>
      (toNow.used[kind] ?? value) + (onward.used[kind] ?? 0n) - (over.used[kind] ?? 0n),
  )
  return {
    used,
    isNewSession: toNow.isNewSession || (onward.isNewSession && !over.isNewSession),
  }
}

function step(from: Figures | null, to: Figures): Counted {
  if (from === null) return { used: to, isNewSession: false }
  const fell = Object.keys(to).some((kind) => (to[kind] ?? 0n) < (from[kind] ?? 0n))
  const used = fell ? to : mapFigures(to, (value, kind) => value - (from[kind] ?? 0n))
  return { used, isNewSession: fell }
}

function mapFigures(figures: Figures, change: (value: bigint, kind: string) => bigint): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([kind, value]) => [kind, change(value, kind)]),
  )
}

export function figuresOf(tokens: Tokens): Figures {
  return Object.fromEntries(TOKEN_CLASSES.map((kind) => [kind, BigInt(tokens[kind])]))
}

export function tokensOf(figures: Figures): Tokens {
  const count = (kind: keyof Tokens) => Number(figures[kind] ?? 0n)
  return {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    reasoning: count('reasoning'),
  }
}
