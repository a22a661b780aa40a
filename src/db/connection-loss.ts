import { setTimeout as sleep } from 'node:timers/promises'

/** Codes of the driver and of PostgreSQL (appendix A, classes 08 and 57P) for a connection that is gone. */
const LOST =
  /^(?:CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EHOSTUNREACH|08|57P0)/

/** True when a query failed because its connection is gone or could not be made. */
export function isConnectionLoss(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code !== 'string' || !LOST.test(code)) return false
  // A file that is not there has the same code as a socket that is not.
  return code !== 'ENOENT' || (error as NodeJS.ErrnoException).syscall === 'connect'
}

type Begin<S> = (work: (sql: S) => Promise<unknown>) => Promise<unknown>

/**
 * Runs a transaction so that the loss of its connection is only an error. The driver would send
 * `rollback`, and whatever the work asks next, to a socket that is no more, and the process would end
 * by an uncaught exception. So after the loss nothing more is sent: what `begin` answers is the loss,
 * which the driver reports by itself, and the work is left without an answer.
 *
 * A loss before the work began has done nothing, so it begins anew, a few times: after a restart of the
 * server the driver reports the end of each old connection once more to whoever comes next.
 */
export async function surviveLoss<S extends object>(
  begin: Begin<S>,
  work: (sql: S) => Promise<unknown>,
): Promise<unknown> {
  for (let left = MAX_BEGINNINGS; ; left -= 1) {
    let hasBegun = false
    const attempt = attemptOnce(begin, (sql) => {
      hasBegun = true
      return work(sql)
    })
    try {
      return await attempt
    } catch (error) {
      if (hasBegun || left <= 1 || !isConnectionLoss(error)) throw error
    }
  }
}

const MAX_BEGINNINGS = 4

async function attemptOnce<S extends object>(
  begin: Begin<S>,
  work: (sql: S) => Promise<unknown>,
): Promise<unknown> {
  let loss: unknown
  const outcome = begin(async (sql) => {
    const guarded = new Proxy(sql, {
      apply: (target, self, input) => {
        if (loss !== undefined) throw loss
        return Reflect.apply<unknown, unknown[], unknown>(target as never, self, input)
      },
    })
    try {
      const result = await work(guarded)
      return loss === undefined ? result : await never()
    } catch (error) {
      if (isConnectionLoss(error)) await sleep(GRACE_MS, undefined, { ref: false })
      return loss === undefined ? Promise.reject(error) : await never()
    }
  })
  outcome.catch((error: unknown) => {
    if (isConnectionLoss(error)) loss = error
  })
  return await outcome
}

/** Within it the driver notices that a connection is gone; if it does not, the loss was another's. */
const GRACE_MS = 500

function never(): Promise<never> {
  return new Promise(() => {})
}
