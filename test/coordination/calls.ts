import type { ErrorCode } from '#lib/errors.ts'

/**
 * What calls of skills are to do, as a state machine in memory: no database, no clock. A lease is over, and a
 * wait is over, when a step says so.
 */
export interface CallWorld {
  calls: Call[]
  /** The run that some of them are for. */
  isRunOver: boolean
}

/** Two skills: one can be repeated and waits between attempts, one writes outside and must not be. */
export const SKILLS = {
  read: { maxAttempts: 3, backoffSeconds: 600, isRepeatable: true, isForRun: false },
  write: { maxAttempts: 2, backoffSeconds: 0, isRepeatable: false, isForRun: true },
} as const
export type SkillKind = keyof typeof SKILLS

export interface Call {
  kind: SkillKind
  status: 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  token: number
  executor: number | null
  version: number
  isLeaseOver: boolean
  isDue: boolean
}

export type CallOutcome = 'ok' | ErrorCode

/** Who acts: 0 and 1 execute, 2 called and may not execute. */
export const CALLER = 2

export function invoke(world: CallWorld, kind: SkillKind): CallOutcome {
  if (SKILLS[kind].isForRun && world.isRunOver) return 'run_not_active'
  world.calls.push({
    kind,
    status: 'pending',
    token: 0,
    executor: null,
    version: 1,
    isLeaseOver: false,
    isDue: true,
  })
  return 'ok'
}

export function claim(world: CallWorld, executor: number, call: Call): CallOutcome {
  const isLost = call.status === 'running' && call.isLeaseOver
  if (call.status === 'running' && !isLost) return 'invocation_already_claimed'
  const goesOn = isLost ? survives(world, call) : call.status === 'pending' && isWanted(world, call)
  if (!goesOn) return 'invocation_not_active'
  if (!call.isDue) return 'invocation_not_due'
  if (isLost) lose(world, call)
  change(call, 'running')
  call.token += 1
  call.executor = executor
  call.isLeaseOver = false
  call.isDue = SKILLS[call.kind].backoffSeconds === 0
  return 'ok'
}

export function write(
  world: CallWorld,
  executor: number,
  call: Call,
  shown: {
    token: number
    deed: 'beat' | 'complete' | 'complete wrongly' | 'fail' | 'fail for now'
  },
): CallOutcome {
  const isHeld =
    call.status === 'running' &&
    !call.isLeaseOver &&
    call.executor === executor &&
    call.token === shown.token
  if (!isHeld) return 'stale_invocation_lease'
  if (shown.deed === 'complete wrongly') return 'invalid_skill_outputs'
  if (shown.deed === 'complete') change(call, 'succeeded')
  if (shown.deed === 'fail') change(call, 'failed')
  if (shown.deed === 'fail for now') miss(call, hasAttemptsLeft(world, call))
  return 'ok'
}

export function cancel(actor: number, call: Call): CallOutcome {
  if (actor !== CALLER) return 'permission_denied'
  if (call.status !== 'pending' && call.status !== 'running') return 'invocation_not_active'
  change(call, 'cancelled')
  return 'ok'
}

/** What the worker ends. */
export function reap(world: CallWorld): CallOutcome {
  for (const call of world.calls) {
    if (call.status === 'running' && call.isLeaseOver) lose(world, call)
    else if (call.status === 'pending' && !isWanted(world, call)) change(call, 'cancelled')
  }
  return 'ok'
}

export function endRun(world: CallWorld): CallOutcome {
  if (world.isRunOver) return 'run_not_active'
  world.isRunOver = true
  return 'ok'
}

function isWanted({ isRunOver }: CallWorld, { kind }: Call): boolean {
  return !(SKILLS[kind].isForRun && isRunOver)
}

function hasAttemptsLeft(world: CallWorld, call: Call): boolean {
  return call.token < SKILLS[call.kind].maxAttempts && isWanted(world, call)
}

function survives(world: CallWorld, call: Call): boolean {
  return SKILLS[call.kind].isRepeatable && hasAttemptsLeft(world, call)
}

function lose(world: CallWorld, call: Call): void {
  miss(call, survives(world, call))
}

function miss(call: Call, isTriedAgain: boolean): void {
  change(call, isTriedAgain ? 'pending' : 'failed')
}

function change(call: Call, status: Call['status']): void {
  call.status = status
  call.version += 1
}
