import { setTimeout as sleep } from 'node:timers/promises'

/** What was read last, or why nothing was. */
export type Reading<T> = { kind: 'read'; value: T } | { kind: 'failed'; error: unknown }

export interface ReadingLimits {
  freshSeconds: number
  patienceSeconds: number
}

/**
 * Makes something costly cheap to ask for: it is read at most once every `freshSeconds` however many ask, never
 * twice at the same time, and who asks waits `patienceSeconds` at most. Reading goes on after that, and
 * nothing else is started until it ends.
 */
export function createReading<T>(
  read: () => Promise<T>,
  { freshSeconds, patienceSeconds }: ReadingLimits,
): () => Promise<Reading<T>> {
  let last: { reading: Reading<T>; at: number } | undefined
  let running: Promise<Reading<T>> | undefined
  const start = async (): Promise<Reading<T>> => {
    const reading = await read().then(
      (value): Reading<T> => ({ kind: 'read', value }),
      (error: unknown): Reading<T> => ({ kind: 'failed', error }),
    )
    last = { reading, at: performance.now() }
    running = undefined
    return reading
  }
  return async () => {
    if (last && performance.now() - last.at < freshSeconds * 1000) return last.reading
    running ??= start()
    return await within(running, patienceSeconds)
  }
}

async function within<T>(reading: Promise<Reading<T>>, seconds: number): Promise<Reading<T>> {
  const over = new AbortController()
  const late = sleep(seconds * 1000, undefined, { signal: over.signal }).then((): Reading<T> => ({
    kind: 'failed',
    error: new Error(`no answer within ${seconds} s`),
  }))
  late.catch(() => {})
  return await Promise.race([reading, late]).finally(() => over.abort())
}
