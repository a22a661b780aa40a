const MAX_COUNTERS = 32
const MAX_CHANGES = 200

export interface Change {
  kind: string
  key: string
  change: string
}

/** The whole numbers of memory's answer by dotted name, at most 32: `entities.opened`. */
export function countersOf(answer: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(numbersIn(answer, '').slice(0, MAX_COUNTERS))
}

function numbersIn(value: object, prefix: string): [string, number][] {
  return Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    if (Number.isSafeInteger(item)) return [[prefix + name, item as number]]
    const isGroup = typeof item === 'object' && item !== null && !Array.isArray(item)
    return isGroup && prefix === '' ? numbersIn(item, `${name}.`) : []
  })
}

/** What became of which entity, at most 200; `truncated` when memory or we named fewer than there are. */
export function changesOf(answer: Record<string, unknown>): {
  changes: Change[]
  truncated: boolean
} {
  const lists = answer['changes']
  if (typeof lists !== 'object' || lists === null) return { changes: [], truncated: false }
  const all = Object.entries(lists).flatMap(([change, items]: [string, unknown]) =>
    Array.isArray(items) ? items.flatMap((item) => named(item, change)) : [],
  )
  const cutByMemory = (lists as { truncated?: unknown }).truncated === true
  return { changes: all.slice(0, MAX_CHANGES), truncated: cutByMemory || all.length > MAX_CHANGES }
}

function named(item: unknown, change: string): Change[] {
  if (typeof item !== 'object' || item === null) return []
  const { kind, key } = item as { kind?: unknown; key?: unknown }
  return typeof kind === 'string' && typeof key === 'string' ? [{ kind, key, change }] : []
}
