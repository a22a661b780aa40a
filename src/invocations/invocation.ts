import type { InvocationStatus } from '#contract/skill-invocations.ts'
import type { SideEffects, SkillContract, SkillStatus } from '#contract/skills.ts'

/** What a call is judged by; times by the clock of the database. */
export interface InvocationState {
  status: InvocationStatus
  /** The number of the newest attempt. */
  fencingToken: number
  isLeaseOver: boolean
  /** Whether the next attempt may begin; of a running one, once its lease is lost. */
  isDue: boolean
  /** False when it was for a run that is over, or whose claim is lost. */
  isWanted: boolean
  /** False when who called may do nothing any more. */
  isCallerActive: boolean
  skillStatus: SkillStatus
  sideEffects: SideEffects
  contract: Pick<SkillContract, 'retryPolicy' | 'idempotency'>
}

/** Seconds that a lease is longer than the timeout of the contract. */
export const LEASE_MARGIN_SECONDS = 30

/** Why a call that nobody executes will never be executed; undefined when it can be. */
export function withdrawal(call: InvocationState): Withdrawal | undefined {
  if (!call.isWanted) return 'run_ended'
  if (!call.isCallerActive) return 'caller_not_active'
  return call.skillStatus === 'disabled' ? 'skill_disabled' : undefined
}

export type Withdrawal = 'run_ended' | 'caller_not_active' | 'skill_disabled'

/** Whether another attempt may follow the newest one. */
export function hasAttemptsLeft(call: InvocationState): boolean {
  const { maxAttempts } = call.contract.retryPolicy
  return call.fencingToken < maxAttempts && withdrawal(call) === undefined
}

/**
 * Whether a call is tried again when its executor was lost without a word. What may have written outside,
 * and does it twice when done twice, is not.
 */
export function survivesLostLease(call: InvocationState): boolean {
  const isRepeatable = call.sideEffects !== 'external_write' || call.contract.idempotency !== 'none'
  return isRepeatable && hasAttemptsLeft(call)
}

/** Why a call cannot be claimed now; undefined when it can. */
export function claimRefusal(
  call: InvocationState,
): 'already_claimed' | 'not_due' | 'not_active' | undefined {
  const { status } = call
  if (status !== 'pending' && status !== 'running') return 'not_active'
  if (status === 'running' && !call.isLeaseOver) return 'already_claimed'
  const goesOn = status === 'running' ? survivesLostLease(call) : withdrawal(call) === undefined
  if (!goesOn) return 'not_active'
  return call.isDue ? undefined : 'not_due'
}

/** Why a write of an executor is refused; undefined when it holds the live lease of the newest attempt. */
export function staleness(
  call: Pick<InvocationState, 'status' | 'fencingToken' | 'isLeaseOver'> & {
    executorId: string | null
  },
  shown: { executorId: string; fencingToken: number },
): 'other_executor' | 'token' | 'superseded' | 'expired' | InvocationStatus | undefined {
  if (shown.fencingToken < call.fencingToken) return 'superseded'
  if (shown.fencingToken > call.fencingToken) return 'token'
  if (shown.executorId !== call.executorId) return 'other_executor'
  if (call.status !== 'running') return call.status
  return call.isLeaseOver ? 'expired' : undefined
}
