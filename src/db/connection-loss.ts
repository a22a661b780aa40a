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

/**
 * Runs a transaction anew, a few times, when its connection was lost before the server had begun it, which has done
 * nothing: after a restart of the server the driver reports the end of each old connection to whoever comes next.
 */
export async function surviveLoss(
  attempt: (onBegun: () => void) => Promise<unknown>,
): Promise<unknown> {
  for (let left = MAX_BEGINNINGS; ; left -= 1) {
    let hasBegun = false
    try {
      return await attempt(() => (hasBegun = true))
    } catch (error) {
      if (hasBegun || left <= 1 || !isConnectionLoss(error)) throw error
    }
  }
}

const MAX_BEGINNINGS = 4
