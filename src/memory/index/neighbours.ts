import { KINDS } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Sight } from './readable.ts'

/** How far a neighbour is looked for past what the reader may not see. */
const MAX_STEPS = 64
const REACH = 2

export interface Neighbour {
  slot: number
  /** -2, -1, 1 or 2 places after the slot it stands beside. */
  offset: number
}

/**
 * Up to two readable neighbours on each side: the nearest messages of the session, or the chunks whose
 * place in the document is at most two away.
 */
export function neighboursOf(index: NamespaceIndex, sight: Sight, slot: number): Neighbour[] {
  const { columns, groups } = index
  const group = columns.group[slot] ?? -1
  if (group === -1) return []
  const members = groups.members(columns, group)
  const at = groups.position(columns, group, slot)
  const isChunk = columns.kind[slot] === KINDS.indexOf('chunk')
  const side = (direction: 1 | -1): Neighbour[] => {
    const near: Neighbour[] = []
    for (let step = 1; step <= MAX_STEPS && near.length < REACH; step++) {
      const other = members[at + direction * step]
      if (other === undefined) break
      if (!sight.isReadable(other)) continue
      const places = (columns.place[other] ?? 0) - (columns.place[slot] ?? 0)
      const offset = isChunk ? places : direction * (near.length + 1)
      if (Math.abs(offset) > REACH) break
      if (offset !== 0) near.push({ slot: other, offset })
    }
    return near
  }
  return [...side(-1), ...side(1)]
}
