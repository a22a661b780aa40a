/** How long something may be kept, in seconds. */
export interface CacheTimes {
  /** Used without asking again. */
  freshSeconds: number
  /** Used when asking again fails; at least as long. */
  staleSeconds: number
}

interface Entry<T> {
  value: T
  at: number
  weight: number
}

const MAX_WEIGHT = 10_000

/**
 * Keeps what was read for a while, and for longer while it cannot be read again. What is not there is not
 * kept, so that something new is seen at once. Holds at most 10,000 entries, or fewer that weigh as much; the
 * oldest goes first.
 */
export function readThrough<T>(
  times: CacheTimes,
  now: () => number,
  weigh: (value: T) => number = () => 1,
): (key: string, read: () => Promise<T | undefined>) => Promise<T | undefined> {
  const entries = new Map<string, Entry<T>>()
  let total = 0
  const drop = (key: string) => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }
  const keep = (key: string, value: T | undefined) => {
    drop(key)
    if (value === undefined) return
    const weight = weigh(value)
    for (const oldest of entries.keys()) {
      if (total + weight <= MAX_WEIGHT) break
      drop(oldest)
    }
    entries.set(key, { value, at: now(), weight })
    total += weight
  }
  return async (key, read) => {
    const entry = entries.get(key)
    const ageSeconds = entry ? (now() - entry.at) / 1000 : Number.POSITIVE_INFINITY
    if (entry && ageSeconds < times.freshSeconds) return entry.value
    try {
      const value = await read()
      keep(key, value)
      return value
    } catch (error) {
      if (entry && ageSeconds < times.staleSeconds) return entry.value
      throw error
    }
  }
}

/** Lets those who ask for the same at the same time wait for one answer. */
export function sharedReads<T>(): (key: string, ask: () => Promise<T>) => Promise<T> {
  const open = new Map<string, Promise<T>>()
  return async (key, ask) => {
    const pending = open.get(key) ?? ask().finally(() => open.delete(key))
    open.set(key, pending)
    return await pending
  }
}
