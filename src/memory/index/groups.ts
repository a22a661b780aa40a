import type { Columns } from './columns.ts'

/** The members of sessions and documents, each in its order. */
export interface Groups {
  add: (group: number, slot: number) => void
  /** Slots of a group: messages by time and arrival, chunks by place and age. */
  members: (columns: Columns, group: number) => readonly number[]
  /** Where a slot stands among the members of its group. */
  position: (columns: Columns, group: number, slot: number) => number
  readonly count: number
}

interface Group {
  slots: number[]
  isSorted: boolean
}

export function createGroups(): Groups {
  const groups: Group[] = []
  const members = (columns: Columns, number: number): readonly number[] => {
    const group = groups[number]
    if (group === undefined) return []
    if (!group.isSorted) {
      group.slots.sort((a, b) => order(columns, a, b))
      group.isSorted = true
    }
    return group.slots
  }
  return {
    add: (number, slot) => {
      const group = (groups[number] ??= { slots: [], isSorted: true })
      group.slots.push(slot)
      group.isSorted = group.slots.length === 1
    },
    members,
    position: (columns, group, slot) => {
      const all = members(columns, group)
      let low = 0
      let high = all.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (order(columns, all[middle] ?? 0, slot) < 0) low = middle + 1
        else high = middle
      }
      return low
    },
    get count() {
      return groups.length
    },
  }
}

function order({ place, startsAt, item }: Columns, a: number, b: number): number {
  const byPlace = (place[a] ?? 0) - (place[b] ?? 0)
  if (byPlace !== 0) return byPlace
  const byTime = (startsAt[a] ?? 0) - (startsAt[b] ?? 0)
  return byTime !== 0 ? byTime : (item[a] ?? 0) - (item[b] ?? 0)
}
