import type { ErrorCode } from '#lib/errors.ts'
import { isGated } from './approval-model.ts'
import type { Approval } from './approval-model.ts'

/**
 * What sessions, claims and runs are to do, as a state machine in memory: no database, no clock. A lease
 * is over when a step says so. It answers the outcome of every command and holds what is true after it.
 */
export interface World {
  sessions: Session[]
  tasks: Task[]
  claims: Claim[]
  runs: Run[]
  approvals: Approval[]
}

export interface Actor {
  index: number
  /** May act on what others hold. */
  manages: boolean
}

export type Outcome = 'ok' | ErrorCode

interface Lease {
  /** The time of the lease has passed, recorded or not. */
  isOver: boolean
}

export interface Session extends Lease {
  owner: number
  status: 'active' | 'closed' | 'expired'
}

export interface Task {
  status: 'open' | 'in_progress' | 'completed'
  version: number
  revision: number
  lastToken: number
  attempts: number
}

export interface Claim extends Lease {
  task: Task
  session: Session
  owner: number
  token: number
  status: 'active' | 'released' | 'expired'
}

export interface Run {
  claim: Claim
  owner: number
  attempt: number
  status: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'suspended'
  reason: string | null
}

export interface Shown {
  claim: Claim
  token: number
}

export function newWorld(): World {
  return { sessions: [], tasks: [], claims: [], runs: [], approvals: [] }
}

export function openSession(world: World, actor: Actor): Outcome {
  world.sessions.push({ owner: actor.index, status: 'active', isOver: false })
  return 'ok'
}

export function createTask(world: World): Outcome {
  world.tasks.push({ status: 'open', version: 1, revision: 1, lastToken: 0, attempts: 0 })
  return 'ok'
}

export function claimTask(world: World, actor: Actor, task: Task, session: Session): Outcome {
  if (session.owner !== actor.index) return 'session_owner_mismatch'
  const ended = endOf(session)
  if (ended) return ended
  const previous = activeClaim(world, task)
  if (previous && isLive(previous)) return 'task_already_claimed'
  const isFree = task.status === 'open' || (task.status === 'in_progress' && previous)
  if (!isFree) return 'task_not_claimable'
  if (isGated(world, task)) return 'approval_required'
  if (previous) endClaim(world, previous, { status: 'expired', reason: 'lease_expired' })
  task.lastToken += 1
  move(task, 'in_progress')
  const lease = { status: 'active', isOver: false } as const
  world.claims.push({ task, session, owner: actor.index, token: task.lastToken, ...lease })
  return 'ok'
}

export function heartbeatSession(actor: Actor, session: Session): Outcome {
  if (!actor.manages && session.owner !== actor.index) return 'session_owner_mismatch'
  return endOf(session) ?? 'ok'
}

export function closeSession(world: World, actor: Actor, session: Session): Outcome {
  const refused = heartbeatSession(actor, session)
  if (refused !== 'ok') return refused
  session.status = 'closed'
  for (const claim of activeClaims(world, session)) {
    endClaim(world, claim, { status: 'released', reason: 'session_closed', releasesTask: true })
  }
  return 'ok'
}

export function heartbeatClaim(actor: Actor, { claim, token }: Shown): Outcome {
  if (!actor.manages && claim.owner !== actor.index) return 'claim_holder_mismatch'
  if (claim.token !== token || claim.task.lastToken > token) return 'stale_claim'
  if (claim.status === 'released') return 'claim_not_active'
  return isLive(claim) ? 'ok' : 'claim_expired'
}

export function releaseClaim(world: World, actor: Actor, shown: Shown): Outcome {
  const refused = heartbeatClaim(actor, shown)
  if (refused !== 'ok') return refused
  if (runningRun(world, shown.claim)) return 'run_in_progress'
  const end = { status: 'released', reason: 'released', releasesTask: true } as const
  endClaim(world, shown.claim, end)
  return 'ok'
}

export function reclaimClaim(world: World, claim: Claim): Outcome {
  if (claim.status === 'released') return 'claim_not_active'
  if (isLive(claim)) return 'claim_not_expired'
  const end = { status: 'expired', reason: 'lease_expired', releasesTask: true } as const
  if (claim.status === 'active') endClaim(world, claim, end)
  return 'ok'
}

export function startRun(world: World, actor: Actor, task: Task, shown: Shown): Outcome {
  const refused = fence(actor, task, shown)
  if (refused) return refused
  if (runningRun(world, shown.claim)) return 'run_already_active'
  task.attempts += 1
  const begin = { attempt: task.attempts, status: 'running', reason: null } as const
  world.runs.push({ claim: shown.claim, owner: actor.index, ...begin })
  return 'ok'
}

/** Anything that is written under the claim of a run and leaves the run going. */
export function writeRun(actor: Actor, run: Run, token: number): Outcome {
  if (run.status !== 'running' && !endedWithClaim(run)) return 'run_not_active'
  const refused = fence(actor, run.claim.task, { claim: run.claim, token })
  if (refused) return refused
  return run.status === 'running' ? 'ok' : 'run_not_active'
}

export function succeedRun(
  world: World,
  actor: Actor,
  run: Run,
  how: { token: number; completesTask: boolean },
): Outcome {
  const refused = writeRun(actor, run, how.token)
  if (refused !== 'ok') return refused
  if (how.completesTask && isGated(world, run.claim.task)) return 'approval_required'
  run.status = 'succeeded'
  if (!how.completesTask) return 'ok'
  endClaim(world, run.claim, { status: 'released', reason: 'task_completed' })
  move(run.claim.task, 'completed')
  return 'ok'
}

export function suspendRun(world: World, actor: Actor, run: Run, token: number): Outcome {
  const refused = writeRun(actor, run, token)
  if (refused !== 'ok') return refused
  Object.assign(run, { status: 'suspended', reason: 'waiting' })
  const end = { status: 'released', reason: 'run_suspended', releasesTask: true } as const
  endClaim(world, run.claim, end)
  return 'ok'
}

export function suspendForApproval(
  world: World,
  actor: Actor,
  { run, token, approval }: { run: Run; token: number; approval: Approval },
): Outcome {
  const refused = writeRun(actor, run, token)
  if (refused !== 'ok') return refused
  if (approval.task !== run.claim.task) return 'invalid_request'
  if (approval.status !== 'pending') return 'approval_already_decided'
  return suspendRun(world, actor, run, token)
}

export function stopRun(actor: Actor, run: Run, status: 'failed' | 'cancelled'): Outcome {
  if (!actor.manages && run.owner !== actor.index) return 'run_holder_mismatch'
  if (status === 'failed' && endedWithClaim(run)) return 'ok'
  if (run.status !== 'running') return 'run_not_active'
  Object.assign(run, { status, reason: 'stopped' })
  return 'ok'
}

export function completeTask(
  world: World,
  actor: Actor,
  task: Task,
  shown: Shown | undefined,
): Outcome {
  if (task.status === 'completed') return 'task_already_completed'
  const refused = shown && fence(actor, task, shown)
  if (refused) return refused
  const claim = shown?.claim ?? activeClaim(world, task)
  const live = claim !== undefined && isLive(claim)
  const held = live ? holdUp(world, claim, shown) : undefined
  if (held) return held
  if (isGated(world, task)) return 'approval_required'
  if (claim) endClaim(world, claim, live ? COMPLETED : EXPIRED)
  move(task, 'completed')
  return 'ok'
}

function holdUp(world: World, claim: Claim, shown: Shown | undefined): Outcome | undefined {
  if (!shown) return 'task_claimed'
  return runningRun(world, claim) ? 'run_in_progress' : undefined
}

const COMPLETED = { status: 'released', reason: 'task_completed' } as const
const EXPIRED = { status: 'expired', reason: 'lease_expired' } as const

/** Records every lease that is over: claims first, then sessions with what is claimed under them. */
export function reap(world: World): Outcome {
  for (const claim of world.claims.filter((one) => one.status === 'active' && one.isOver)) {
    endClaim(world, claim, { status: 'expired', reason: 'lease_expired', releasesTask: true })
  }
  for (const session of world.sessions.filter((one) => one.status === 'active' && one.isOver)) {
    session.status = 'expired'
    for (const claim of activeClaims(world, session)) {
      endClaim(world, claim, { status: 'expired', reason: 'session_expired', releasesTask: true })
    }
  }
  return 'ok'
}

export function isLive(claim: Claim): boolean {
  return claim.status === 'active' && !claim.isOver && endOf(claim.session) === undefined
}

export function activeClaim(world: World, task: Task): Claim | undefined {
  return world.claims.find((claim) => claim.task === task && claim.status === 'active')
}

function activeClaims(world: World, session: Session): Claim[] {
  return world.claims.filter((claim) => claim.session === session && claim.status === 'active')
}

function endOf(session: Session): Outcome | undefined {
  if (session.status === 'closed') return 'session_not_active'
  return session.status === 'expired' || session.isOver ? 'session_expired' : undefined
}

function fence(actor: Actor, task: Task, { claim, token }: Shown): Outcome | undefined {
  if (claim.owner !== actor.index) return 'claim_holder_mismatch'
  const isCurrent = claim.token === token && claim.task.lastToken === token
  return claim.task === task && isCurrent && isLive(claim) ? undefined : 'stale_claim'
}

function runningRun(world: World, claim: Claim): Run | undefined {
  return world.runs.find((run) => run.claim === claim && run.status === 'running')
}

function endedWithClaim(run: Run): boolean {
  const reasons = ['lease_expired', 'session_expired', 'session_closed']
  return run.status === 'failed' && reasons.includes(run.reason ?? '')
}

function endClaim(
  world: World,
  claim: Claim,
  end: { status: 'released' | 'expired'; reason: string; releasesTask?: true },
): void {
  claim.status = end.status
  const run = runningRun(world, claim)
  if (run) Object.assign(run, { status: 'failed', reason: end.reason })
  if (end.releasesTask && claim.task.status === 'in_progress') move(claim.task, 'open')
}

function move(task: Task, status: Task['status']): void {
  task.status = status
  task.version += 1
}
