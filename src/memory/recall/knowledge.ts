import type { Item } from './item.ts'

/** Kinds of observations that somebody recorded on purpose as knowledge. */
const KINDS: ReadonlySet<string> = new Set([
  'constraint',
  'decision',
  'external_fact',
  'finding',
  'preference',
  'result',
  'summary',
])

/** Whether an item is knowledge recorded on purpose, not something that merely happened or was said. */
export function isKnowledge({ kind, type }: Pick<Item, 'kind' | 'type'>): boolean {
  return kind === 'observation' && KINDS.has(type)
}
