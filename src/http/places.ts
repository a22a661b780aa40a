import { AppError } from '#lib/errors.ts'

/** Bounds what is open at once; unlike a turn, a place is refused when there is none. */
export interface Places {
  /** Takes a place under this name until the answer is disposed. Throws `rate_limited`. */
  take: (name: string) => Disposable
  taken: () => number
}

const RETRY_SECONDS = 5

export function createPlaces({ each, all }: { each: number; all: number }): Places {
  const open = new Map<string, number>()
  let total = 0
  return {
    taken: () => total,
    take: (name) => {
      const own = open.get(name) ?? 0
      if (own >= each) throw noPlace(`${each} are open for this caller`)
      if (total >= all) throw noPlace(`${all} are open at this process`)
      open.set(name, own + 1)
      total += 1
      let isHeld = true
      return {
        [Symbol.dispose]: () => {
          if (!isHeld) return
          isHeld = false
          total -= 1
          const left = (open.get(name) ?? 0) - 1
          if (left > 0) open.set(name, left)
          else open.delete(name)
        },
      }
    },
  }
}

function noPlace(why: string): AppError {
  return new AppError('rate_limited', `Cannot open another stream: ${why}`, {
    retryAfterSeconds: RETRY_SECONDS,
  })
}
