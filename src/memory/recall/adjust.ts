import { mentionsTime } from '../analysis/dates.ts'
import type { Query } from './query.ts'

/** What reading an item's text adds to or takes from its score by words. */
export interface Adjustment {
  factor: number
  signals: { question?: number; when?: number }
}

const QUESTION_COST = 0.3
const WHEN_FACTOR = 1.2

/**
 * An item that only asks holds no answer; one that says when is a better answer to "when". Measured on
 * dialogues.
 */
export function adjustmentOf(query: Query, text: string): Adjustment {
  const signals: Adjustment['signals'] = {}
  const asking = askingShare(text)
  if (asking > 0) signals.question = 1 - QUESTION_COST * asking
  if (query.asksWhen && mentionsTime(text)) signals.when = WHEN_FACTOR
  return { factor: (signals.question ?? 1) * (signals.when ?? 1), signals }
}

/** 1 for one or two sentences ending in a question, half that for a longer text that ends so. */
function askingShare(text: string): number {
  const trimmed = text.trimEnd()
  if (!/[?？]["'»”)]*$/u.test(trimmed)) return 0
  const sentences = trimmed.split(/[.!?…。！？]+/u).filter((sentence) => sentence.trim() !== '')
  return sentences.length <= 2 ? 1 : 0.5
}
