import { setTimeout as sleep } from 'node:timers/promises'
import { troubleOf } from './trouble.ts'

const ATTEMPTS = 4
/** Twice that is the longest first pause; it doubles with every attempt. */
const PAUSE_MS = 10

/**
 * Runs a transaction again that the database undid to end a deadlock or a conflict with another one: whoever asked
 * need not know. What fails every time is thrown. The work must be nothing but statements, so that a repeat is as
 * good as the first.
 */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt === ATTEMPTS || troubleOf(error)?.kind !== 'conflict') throw error
      // Those that collided must not meet again at the same moment.
      await sleep(PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random()))
    }
  }
}
