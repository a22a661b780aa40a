import { setTimeout as sleep } from 'node:timers/promises'

/** What one waits for, and others tell. */
export interface Wakes {
  wake: () => void
  /** Until the next wake-up, or so many seconds; an abort ends it too. */
  wait: (seconds: number, signal: AbortSignal) => Promise<void>
}

/** A wake-up that arrives while nobody waits is not lost: the next wait returns at once. */
export function createWakes(): Wakes {
  let pending = false
  let resolve: (() => void) | undefined
  return {
    wake: () => {
      pending = true
      resolve?.()
    },
    wait: async (seconds, signal) => {
      const over = new AbortController()
      const woken = new Promise<void>((done) => (resolve = done))
      const either = AbortSignal.any([signal, over.signal])
      if (!pending) {
        await Promise.race([
          woken,
          sleep(seconds * 1000, undefined, { signal: either }).catch(() => {}),
        ])
      }
      over.abort()
      resolve = undefined
      pending = false
    },
  }
}
