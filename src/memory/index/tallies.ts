/** Items and words of one sort of item. */
export interface Tally {
  items: number
  words: number
}

/** How many items hold now and how long they are, kept apart by audience so that a reader counts only his. */
export interface Tallies {
  add: (audience: number, isText: boolean, items: number, words: number) => void
  /** Over the audiences that are seen: texts (chunks), and everything else. */
  seen: (audiences: Uint8Array) => { texts: Tally; shorts: Tally }
}

export function createTallies(): Tallies {
  const texts: Tally[] = []
  const shorts: Tally[] = []
  const sum = (tallies: readonly Tally[], audiences: Uint8Array): Tally => {
    const total = { items: 0, words: 0 }
    for (const [audience, tally] of tallies.entries()) {
      if (tally === undefined || audiences[audience] !== 1) continue
      total.items += tally.items
      total.words += tally.words
    }
    return total
  }
  return {
    add: (audience, isText, items, words) => {
      const tally = ((isText ? texts : shorts)[audience] ??= { items: 0, words: 0 })
      tally.items += items
      tally.words += words
    },
    seen: (audiences) => ({ texts: sum(texts, audiences), shorts: sum(shorts, audiences) }),
  }
}
