import { heldAt, isEligible } from '#access/is-eligible.ts'
import type { Candidate } from '#access/is-eligible.ts'
import { missingOf } from '#access/eligibility.ts'
import type { Held } from '#access/eligibility.ts'
import type { ClaimObstacle } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { ClaimRow } from './claim.sql.ts'
import type { LockedTask } from './locked-task.sql.ts'
import { projectObstacle } from './project-rules.ts'
import { selectOpenDependencies } from './readiness.sql.ts'
import { closedGates } from './required-approval.ts'
import { claimObstacle, publicIdOf } from './task.ts'
import type { TaskRow } from './task.sql.ts'

/** Why the caller cannot claim a task now, as the refusal of a claim says it. */
export interface Obstacle {
  code: ClaimObstacle
  /** What the task is, to follow "Cannot claim task: it". */
  state: string
  details: Record<string, unknown>
  retryAfterSeconds?: number
}

type Find = (sql: Sql, ctx: Ctx, task: TaskRow | LockedTask) => Promise<Obstacle | undefined>

/** Beyond the state of the task itself, in the order in which a claim is refused. */
const FINDERS: readonly Find[] = [unreadiness, gatedness, projectObstacle, ineligibility]

/** Everything that keeps the caller from claiming a task now. */
export async function claimObstacles(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow,
  claim: ClaimRow | undefined,
): Promise<Obstacle[]> {
  const found = [stateObstacle(task, claim), ...(await findAll(sql, ctx, task))]
  return found.filter((obstacle) => obstacle !== undefined)
}

/** Throws the first obstacle. The caller holds the task's lock. */
export async function refuseObstacles(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow,
  claim: ClaimRow | undefined,
): Promise<void> {
  refuse(task, stateObstacle(task, claim))
  for (const obstacle of await findAll(sql, ctx, task)) refuse(task, obstacle)
}

/** Asks for everything at once: one round trip, whatever the number of rules. */
function findAll(sql: Sql, ctx: Ctx, task: TaskRow): Promise<(Obstacle | undefined)[]> {
  return Promise.all(FINDERS.map((find) => find(sql, ctx, task)))
}

function refuse(task: TaskRow, obstacle: Obstacle | undefined): void {
  if (!obstacle) return
  const { code, state, details, retryAfterSeconds } = obstacle
  throw new AppError(code, `Cannot claim task "${task.id}": it ${state}`, {
    details,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

function stateObstacle(task: TaskRow, claim: ClaimRow | undefined): Obstacle | undefined {
  const code = claimObstacle(task, claim)
  if (code === 'task_already_claimed' && claim) {
    const retryAfterSeconds = claim.remainingSeconds
    const expiresAt = claim.expiresAt.toISOString()
    const details = { holderId: claim.principalId, expiresAt, retryAfterSeconds }
    return { code, state: 'is claimed', details, retryAfterSeconds }
  }
  if (!code) return undefined
  const details = { status: task.status, systemStatusCategory: task.statusCategory }
  return { code, state: `is ${task.status}`, details }
}

const NOTHING: Held = { roles: [], capabilities: [], skills: [] }
const MAX_NAMED = 20

async function unreadiness(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow | LockedTask,
): Promise<Obstacle | undefined> {
  // Most tasks wait for nothing, and a claim has read that with the task.
  if ('isWaiting' in task && !task.isWaiting) return undefined
  const open = await selectOpenDependencies(sql, ctx, { id: task.id, limit: MAX_NAMED })
  if (open.length === 0) return undefined
  const waitingFor = open
    .filter(({ taskId }) => taskId !== null)
    .map(({ taskId, number, status }) => ({ taskId, publicId: publicIdOf(number), status }))
  return { code: 'task_not_ready', state: 'waits for other tasks', details: { waitingFor } }
}

async function gatedness(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow | LockedTask,
): Promise<Obstacle | undefined> {
  // Most tasks have no gates, and a claim has read that with the task.
  if ('isGated' in task && !task.isGated) return undefined
  const gates = await closedGates(sql, ctx, task.id)
  if (gates.length === 0) return undefined
  return { code: 'approval_required', state: 'waits for an approval', details: { gates } }
}

async function ineligibility(sql: Sql, ctx: Ctx, task: TaskRow): Promise<Obstacle | undefined> {
  const { workspaceId, requirements } = task
  const candidate = candidateAt(ctx, workspaceId)
  const { eligible, missing } = await isEligible(sql, ctx, requirements, candidate)
  if (eligible) return undefined
  return { code: 'not_eligible', state: 'asks for what you do not have', details: { missing } }
}

/** The caller, with no more skills than a child handle leaves. */
function candidateAt({ actorId, childGrant }: Ctx, workspaceId: string | null): Candidate {
  return { principalId: actorId, workspaceId, grantedSkills: childGrant?.skills ?? null }
}

/** The tasks whose requirements the caller meets. Reads once per workspace what the caller has there. */
export async function eligibleOnly(
  sql: Sql,
  ctx: Ctx,
  tasks: readonly TaskRow[],
): Promise<TaskRow[]> {
  const heldIn = new Map<string | null, Held>()
  const eligible: TaskRow[] = []
  for (const task of tasks) {
    const { workspaceId, requirements } = task
    const asks = Object.values(requirements).some((names) => names.length > 0)
    if (asks && !heldIn.has(workspaceId)) {
      heldIn.set(workspaceId, await heldAt(sql, ctx, candidateAt(ctx, workspaceId)))
    }
    const held = heldIn.get(workspaceId) ?? NOTHING
    if (missingOf(requirements, held).length === 0) eligible.push(task)
  }
  return eligible
}
