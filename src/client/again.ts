import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '#lib/errors.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { TransportError } from './client.ts'

const ATTEMPTS = 5
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'content_unavailable',
  'not_ready',
  'rate_limited',
])

/** Whether the same request may well succeed later: nobody answered, or somebody is out of breath. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return PASSING.has(error.code)
  return error instanceof TransportError && (error.status ?? 500) >= 500
}

/** Does what may be done twice until it succeeds, at most five times with growing pauses. */
export async function again<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !isPassing(error)) throw error
      await pause(attempt, error, signal)
    }
  }
}

/** Waits as long as the server said, else longer with each attempt. Throws when the signal aborts. */
export async function pause(attempt: number, error: unknown, signal?: AbortSignal): Promise<void> {
  const wish = error instanceof AppError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  const pauseMs = Math.min(Math.max(wish, FIRST_PAUSE_MS * 2 ** (attempt - 1)), MAX_PAUSE_MS)
  await sleep(pauseMs, undefined, { ...(signal && { signal }) })
}
