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
}

const MAX_ENTRIES = 10_000

/**
 * Keeps what was read for a while, and for longer while it cannot be read again. What is not there is not
 * kept, so that something new is seen at once. Holds at most 10,000 entries; the oldest goes first.
 */
export function readThrough<T>(
  times: CacheTimes,
  now: () => number,
): (key: string, read: () => Promise<T | undefined>) => Promise<T | undefined> {
  const entries = new Map<string, Entry<T>>()
  const keep = (key: string, value: T | undefined) => {
    entries.delete(key)
    if (value === undefined) return
    const [oldest] = entries.keys()
    if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
    entries.set(key, { value, at: now() })
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
