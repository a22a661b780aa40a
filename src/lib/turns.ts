import { AppError } from './errors.ts'

/** Lets a bounded number of pieces of work go on at once. */
export interface Turns {
  /**
   * Waits for a turn under this name and holds it until the answer is disposed. Turns are given in the
   * order asked for, but nobody waits behind a name that has all it may have. Rejects with the signal's
   * reason when it aborts before, and with `rate_limited` when too many wait under the name.
   */
  enter: (name: string, signal?: AbortSignal) => Promise<Disposable>
}

export interface TurnLimits {
  /** At once under one name, so that who asks for much delays himself first. */
  each: number
  /** At once under all names together. */
  all?: number
  /** Waiting under one name; who asks for more is refused at once. */
  waiting?: number
}

interface Waiting {
  name: string
  begin: () => void
}

export function createTurns(limits: TurnLimits): Turns {
  const { each, all = Infinity, waiting: mayWait = Infinity } = limits
  const running = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let total = 0

  const isFree = (name: string) => total < all && (running.get(name) ?? 0) < each
  const leave = (name: string) => {
    total -= 1
    const left = (running.get(name) ?? 0) - 1
    if (left > 0) running.set(name, left)
    else running.delete(name)
    for (const next of waiting) if (isFree(next.name)) next.begin()
  }
  const turnOf = (name: string): Disposable => {
    total += 1
    running.set(name, (running.get(name) ?? 0) + 1)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) leave(name)
        isHeld = false
      },
    }
  }

  const enter = async (name: string, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    if (isFree(name)) return turnOf(name)
    const before = [...waiting].filter((one) => one.name === name)
    if (before.length >= mayWait) throw tooMany()
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const stop = () => {
      waiting.delete(one)
      reject(signal?.reason as Error)
    }
    const one: Waiting = {
      name,
      begin: () => {
        waiting.delete(one)
        signal?.removeEventListener('abort', stop)
        resolve(turnOf(name))
      },
    }
    waiting.add(one)
    signal?.addEventListener('abort', stop, { once: true })
    return await promise
  }
  return { enter }
}

const RETRY_SECONDS = 1

function tooMany(): AppError {
  return new AppError('rate_limited', 'Cannot take the request: too many of yours are waiting', {
    retryAfterSeconds: RETRY_SECONDS,
  })
}
