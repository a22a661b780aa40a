import type { DatabaseAddress } from '#db/sql.ts'

/** A job queue or workflow engine over PostgreSQL, as far as it is measured. */
export interface Peer extends AsyncDisposable {
  /** Does `count` jobs, made before, with `callers` at a time. @returns jobs per second */
  drain: Record<string, (callers: number, count: number) => Promise<number>>
  /**
   * With workers waiting, makes one job after the other and waits until it was begun.
   * @returns milliseconds from before the call that makes it
   */
  latency: (workers: number, count: number) => Promise<number[]>
}

/** What every peer's own driver takes. */
export interface PgConfig {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export function pgConfig(address: DatabaseAddress): PgConfig {
  if (!('url' in address)) {
    const { socket: host, port, user, password, database } = address
    return { host, port, user, password, database }
  }
  const url = new URL(address.url)
  return {
    host: url.hostname,
    port: Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1),
  }
}

/** Most connections of a peer: as many as the callers that the bench ever has, and some of its own. */
export const PEER_CONNECTIONS = 34

/** Tells when things that happen elsewhere have happened so often. */
export function countdown(count: number) {
  let left = count
  let begun = 0
  const { promise, resolve } = Promise.withResolvers<number>()
  return {
    /** When the first began; later calls change nothing. */
    begin: () => {
      begun ||= performance.now()
    },
    done: () => {
      left -= 1
      if (left === 0) resolve(count / ((performance.now() - begun) / 1000))
    },
    /** So many per second, from the first beginning to the last end. */
    rate: promise,
  }
}

/** Makes one thing after the other; each is awaited by `begun`, which a worker calls with its number. */
export function stopwatch() {
  const waiting = new Map<number, (now: number) => void>()
  return {
    begun: (n: number) => waiting.get(n)?.(performance.now()),
    async measure(count: number, make: (n: number) => Promise<unknown>): Promise<number[]> {
      const times: number[] = []
      for (let n = 0; n < count; n += 1) {
        const { promise, resolve } = Promise.withResolvers<number>()
        waiting.set(n, resolve)
        const start = performance.now()
        await make(n)
        times.push((await promise) - start)
        waiting.delete(n)
      }
      return times
    },
  }
}
