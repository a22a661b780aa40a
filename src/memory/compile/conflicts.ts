import type { Item } from '../recall/item.ts'

/**
 * Facts of a selection that cannot all be true: one subject and predicate, different objects, at a
 * common time, neither replaced by the other. Reported, never resolved.
 *
 * @returns ids of each fact in conflict, with the ids it conflicts with in the order given
 */
export function conflictsOf(items: readonly Item[]): Map<string, string[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    if (item.fact === null) continue
    const group = `${item.namespace}\n${item.fact.subject}\n${item.fact.predicate}`
    groups.set(group, [...(groups.get(group) ?? []), item])
  }
  const conflicts = new Map<string, string[]>()
  for (const facts of groups.values()) {
    for (const fact of facts) {
      const others = facts.filter((other) => contradict(fact, other)).map(({ id }) => id)
      if (others.length > 0) conflicts.set(fact.id, others)
    }
  }
  return conflicts
}

function contradict(a: Item, b: Item): boolean {
  if (a.fact === null || b.fact === null || a.fact.object === b.fact.object) return false
  if (a.supersededBy === b.id || b.supersededBy === a.id) return false
  return startsBeforeEnd(a.fact, b.fact) && startsBeforeEnd(b.fact, a.fact)
}

/** Intervals are half-open; no start is minus infinity, no end is plus infinity. */
function startsBeforeEnd(a: { validFrom: Date | null }, b: { validTo: Date | null }): boolean {
  return a.validFrom === null || b.validTo === null || a.validFrom < b.validTo
}
