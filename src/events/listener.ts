import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { CHANNEL } from './notify.ts'

/** The one connection of this process that is told of new events. */
export interface Listener extends AsyncDisposable {
  /** Begins to listen, if it does not yet. */
  open: () => void
  /** Listens over a new connection: the present one is believed to be deaf. */
  renew: () => void
}

export interface ListenerOptions {
  /** Absent, nothing is ever heard. */
  address: DatabaseAddress | undefined
  /** Told the tenant that has new events; undefined when any may, after a time without listening. */
  onWake: (tenantId: string | undefined) => void
  onError: (error: unknown) => void
}

/**
 * Listens on a connection of its own, outside the pool and not through a pooler. The driver makes it anew
 * when it notices the loss; a connection that is half open, or that could not be made again, it does not
 * notice: that is what `renew` is for.
 */
export function createListener({ address, onWake, onError }: ListenerOptions): Listener {
  let pool: Database | undefined
  let isOver = false
  const open = () => {
    if (pool || !address || isOver) return
    pool = connect(address, { maxConnections: 1, appName: 'strata-listener', lasting: true })
    pool.listen(CHANNEL, onWake, () => onWake(undefined)).catch(onError)
  }
  const close = async () => {
    const old = pool
    pool = undefined
    // Not waited for: a connection that is half open never answers.
    await old?.end({ timeout: 0 }).catch(() => {})
  }
  return {
    open,
    renew: () => {
      void close()
      open()
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      await close()
    },
  }
}
