import type { Item } from '../recall/item.ts'

/** Models read a few hundred words; what comes after is in other chunks. */
const MAX_CHARS = 4_000

/** What a model is given of an item: its title and what it says; empty for what says nothing by itself. */
export function embeddedText(item: Item | undefined): string {
  if (item === undefined || item.text.trim() === '') return ''
  const text =
    item.title === null || item.title === item.text ? item.text : `${item.title}\n${item.text}`
  return text.slice(0, MAX_CHARS)
}
