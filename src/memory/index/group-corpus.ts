import { TF_UNIT } from '../analysis/terms-of.ts'
import type { GroupBag, GroupCorpus } from '../recall/structure.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import type { Sight } from './readable.ts'
import { READABLE } from './sights.ts'

/** Of a longer session this many items stand for the whole. */
const MAX_MEMBERS = 2_000

/**
 * The sessions and documents that the given slots belong to, as bags of the terms whose postings are
 * given, and how rare each term is among all of them. Only what the reader may see counts.
 */
export function groupCorpusOf(
  index: NamespaceIndex,
  sight: Sight,
  terms: readonly (readonly Segment[])[],
  slots: Iterable<number>,
): GroupCorpus {
  const { columns, groups } = index
  const numbers = new Set<number>()
  for (const slot of slots) numbers.add(columns.group[slot] ?? -1)
  numbers.delete(-1)
  const found = Array.from(numbers, (group) => ({
    group,
    bag: emptyBag(index, sight, group, terms.length),
  }))
  const holding = countInto(found, index, sight, terms)
  const bags = found.map(({ bag }) => bag)
  const average = bags.reduce((sum, { length }) => sum + length, 0) / Math.max(1, bags.length)
  const { texts, shorts } = index.tallies.seen(sight.audiences)
  const items = texts.items + shorts.items
  const averageItems = bags.reduce((sum, bag) => sum + bag.items, 0) / Math.max(1, bags.length)
  return {
    bags: new Map(found.map(({ group, bag }) => [index.groupNames.names[group] ?? '', bag])),
    total: Math.max(
      bags.length,
      ...holding,
      Math.min(groups.count, items / Math.max(1, averageItems)),
    ),
    averageLength: average,
    holding,
  }
}

function emptyBag(index: NamespaceIndex, sight: Sight, group: number, terms: number): GroupBag {
  const bag: GroupBag = { tfs: Array.from({ length: terms }, () => 0), length: 0, items: 0 }
  const { length } = index.columns
  const members = index.groups.members(index.columns, group)
  const some = Math.min(members.length, MAX_MEMBERS)
  for (let i = 0; i < some; i++) {
    const slot = members[i] ?? 0
    if (((sight.marks[slot] ?? 0) & READABLE) === 0) continue
    bag.length += length[slot] ?? 0
    bag.items += 1
  }
  return bag
}

/** Adds the frequencies to the bags, and answers how many groups of all hold each term. */
function countInto(
  found: readonly { group: number; bag: GroupBag }[],
  { columns, groups, scratch }: NamespaceIndex,
  { marks }: Sight,
  terms: readonly (readonly Segment[])[],
): number[] {
  const rows = scratch.groupRows(groups.count)
  const stamps = scratch.groupStamps(groups.count)
  for (const [row, { group }] of found.entries()) rows[group] = row + 1
  const holding = terms.map((segments, term) => {
    const stamp = scratch.stamp()
    let count = 0
    const note = (group: number, tf: number): void => {
      if (stamps[group] !== stamp) count += 1
      stamps[group] = stamp
      const bag = found[(rows[group] ?? 0) - 1]?.bag
      if (bag) bag.tfs[term] = (bag.tfs[term] ?? 0) + tf
    }
    for (const segment of segments) eachGrouped(segment, columns.group, marks, note)
    return count
  })
  for (const { group } of found) rows[group] = 0
  return holding
}

/** Calls for each posting of a readable slot that has a group. */
function eachGrouped(
  { slots, tfs, from, to }: Segment,
  groupOf: Int32Array,
  marks: Uint8Array,
  note: (group: number, tf: number) => void,
): void {
  for (let i = from; i < to; i++) {
    const slot = slots[i] ?? 0
    const group = groupOf[slot] ?? -1
    if (group === -1 || ((marks[slot] ?? 0) & READABLE) === 0) continue
    note(group, (tfs[i] ?? 0) / TF_UNIT)
  }
}
