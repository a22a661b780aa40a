import { TF_UNIT } from '../analysis/terms-of.ts'
import type { GroupBag, GroupCorpus } from '../recall/structure.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import type { Sight } from './readable.ts'

/** Of a longer session this many items stand for the whole. */
const MAX_MEMBERS = 2_000

/**
 * The sessions and documents that the given slots belong to, as bags of the terms whose postings are
 * given, and how rare each term is among all of them. Only what the reader may see counts.
 */
export function groupCorpusOf(
  index: NamespaceIndex,
  sight: Sight,
  terms: readonly Segment[][],
  slots: Iterable<number>,
): GroupCorpus {
  const { columns, groups } = index
  const numbers = new Set<number>()
  for (const slot of slots) numbers.add(columns.group[slot] ?? -1)
  numbers.delete(-1)
  const bags = new Map(
    Array.from(numbers, (group) => [group, emptyBag(index, sight, group, terms.length)]),
  )
  const holding = countInto(bags, index, sight, terms)
  const named = Array.from(
    bags,
    ([group, bag]) => [index.groupNames.names[group] ?? '', bag] as const,
  )
  const lengths = Array.from(bags.values(), ({ length }) => length)
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  const { texts, shorts } = index.tallies.seen(sight.audiences)
  const items = texts.items + shorts.items
  const averageItems =
    Array.from(bags.values(), (bag) => bag.items).reduce((sum, count) => sum + count, 0) /
    Math.max(1, bags.size)
  return {
    bags: new Map(named),
    total: Math.max(
      bags.size,
      ...holding,
      Math.min(groups.count, items / Math.max(1, averageItems)),
    ),
    averageLength: average,
    holding,
  }
}

function emptyBag(index: NamespaceIndex, sight: Sight, group: number, terms: number): GroupBag {
  const bag: GroupBag = { tfs: Array.from({ length: terms }, () => 0), length: 0, items: 0 }
  const members = index.groups.members(index.columns, group)
  for (const slot of members.slice(0, MAX_MEMBERS)) {
    if (!sight.isReadable(slot)) continue
    bag.length += index.columns.length[slot] ?? 0
    bag.items += 1
  }
  return bag
}

/** Adds the frequencies to the bags, and answers how many groups of all hold each term. */
function countInto(
  bags: ReadonlyMap<number, GroupBag>,
  { columns, groups }: NamespaceIndex,
  { isReadable }: Sight,
  terms: readonly Segment[][],
): number[] {
  const lastSeen = new Int32Array(groups.count).fill(-1)
  return terms.map((segments, term) => {
    let count = 0
    for (const { slots, tfs, from, to } of segments) {
      for (let i = from; i < to; i++) {
        const slot = slots[i] ?? 0
        const group = columns.group[slot] ?? -1
        if (group === -1 || !isReadable(slot)) continue
        if (lastSeen[group] !== term) count += 1
        lastSeen[group] = term
        const bag = bags.get(group)
        if (bag) bag.tfs[term] = (bag.tfs[term] ?? 0) + (tfs[i] ?? 0) / TF_UNIT
      }
    }
    return count
  })
}
