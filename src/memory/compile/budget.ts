import type { Dropped, Ranked } from '../recall/item.ts'
import { cutToTokens } from './cut.ts'
import { countTokens } from './tokens.ts'

/** A candidate that made it into the pack, with the text as it will be shown. */
export interface Fitted extends Ranked {
  text: string
  tokens: number
}

/** The caller's own state as text, which is shown first. */
export interface Current {
  text: string
  tokens: number
  truncated: boolean
}

/** No single item takes more than this share of the budget; longer ones are cut. */
const MAX_ITEM_SHARE = 0.5
/** The caller's state repeats what it knows: it gets at most this share. */
const MAX_CURRENT_SHARE = 0.25

/** The caller's state cut to its share of the budget, at the end of a line. */
export function fitCurrent(text: string, maxTokens: number): Current {
  const cut = cutToTokens(text, Math.floor(maxTokens * MAX_CURRENT_SHARE))
  return {
    text: cut,
    tokens: cut === '' ? 0 : countTokens(cut),
    truncated: cut.length < text.length,
  }
}

/**
 * Fills `tokensLeft` in the order given. An item too long for any pack is cut at a sentence, one that
 * merely does not fit any more is left out and smaller ones after it still get their chance.
 */
export function fillBudget(
  ranking: readonly Ranked[],
  tokensLeft: number,
): { fitted: Fitted[]; dropped: Dropped[]; truncated: boolean } {
  const longest = Math.max(1, Math.floor(tokensLeft * MAX_ITEM_SHARE))
  const fitted: Fitted[] = []
  const dropped: Dropped[] = []
  let left = tokensLeft
  let truncated = false
  for (const ranked of ranking) {
    const text = cutToTokens(ranked.item.text, longest)
    const tokens = countTokens(text)
    if (text === '' || tokens > left) {
      const { id, kind } = ranked.item
      dropped.push({ id, kind, score: ranked.score, reason: 'budget' })
      continue
    }
    const cut = text.length < ranked.item.text.length
    truncated ||= cut
    left -= tokens
    fitted.push({
      ...ranked,
      text,
      tokens,
      signals: cut ? { ...ranked.signals, truncated: true } : ranked.signals,
    })
  }
  return { fitted, dropped, truncated }
}
