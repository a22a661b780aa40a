import type { Database } from '#db/sql.ts'
import { keepLease } from '#events/leased-consumers.ts'
import type { Lease } from '#events/leased-consumers.ts'
import type { Notify } from '#lib/appended.ts'
import type { SendLimits } from './send-message.ts'
import { CONSUMER_PREFIX } from './webhook.ts'
import type { Backoff } from './webhook.ts'

/** What every delivery of this process shares. */
export interface Sending {
  db: Database
  limits: SendLimits
  /** Events for one webhook in one turn. */
  batch: number
  maxAttempts: number
  /** Life of a lease without a sign of life from its holder. */
  lockSeconds: number
  backoff: Backoff
  /** Wakes readers of a tenant's journal. */
  notify: Notify
  /** From 0 to 1, for the pauses between attempts. */
  random: () => number
}

/** One webhook being served by this process, under a lease. */
export interface Turn {
  sending: Sending
  lease: Lease
  webhookId: string
  tenancy: { tenantId: string }
  /** By the clock of `performance.now()`: until then nobody else serves it. */
  heldUntil: number
  /** Events that may still be sent. */
  left: number
  done: { delivered: number; failed: number; dead: number }
}

/** Between the end of an attempt and the end of the lease there must be time to record it. */
function marginSeconds({ limits }: Sending): number {
  return Math.min(limits.timeoutSeconds, 5)
}

/** At least what an attempt needs, so that one can always be begun. */
export function leaseSeconds(sending: Sending): number {
  const { lockSeconds, limits } = sending
  return Math.max(lockSeconds, limits.timeoutSeconds + 2 * marginSeconds(sending))
}

/** `leasedAt` is when the lease was asked for: by the database it began later, so it ends later too. */
export function beginTurn(sending: Sending, lease: Lease, leasedAt: number): Turn {
  return {
    sending,
    lease,
    webhookId: lease.name.slice(CONSUMER_PREFIX.length),
    tenancy: { tenantId: lease.tenantId },
    heldUntil: leasedAt + leaseSeconds(sending) * 1000,
    left: sending.batch,
    done: { delivered: 0, failed: 0, dead: 0 },
  }
}

/** True when the lease lasts longer than an attempt can; lengthens it when it would not. */
export async function holdsLongEnough(turn: Turn): Promise<boolean> {
  const { sending, lease } = turn
  const neededMs = (sending.limits.timeoutSeconds + marginSeconds(sending)) * 1000
  const now = performance.now()
  if (turn.heldUntil - now >= neededMs) return true
  if (!(await keepLease(sending.db, lease, leaseSeconds(sending)))) return false
  turn.heldUntil = now + leaseSeconds(sending) * 1000
  return true
}
