import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import type { Ctx } from '#lib/ctx.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import type { Obstacle } from './obstacles.ts'
import type { TaskFields, TaskRow } from './task.sql.ts'

/** Why the project of a task keeps it from being claimed by anyone. */
export async function projectObstacle(
  sql: Sql,
  ctx: Ctx,
  task: TaskRow,
): Promise<Obstacle | undefined> {
  const rules = await readWorkRules(sql, ctx, task.workspaceId)
  if (!rules || allowsPriority(rules, task)) return undefined
  const { allowedTaskPriorities } = rules.governance
  const { priority } = task
  return {
    code: 'task_not_claimable',
    state: 'has a priority that its project does not allow',
    details: { projectId: rules.projectId, priority, allowedTaskPriorities },
  }
}

/**
 * Refuses a task with a priority that the project it comes to does not allow, so that none is made that
 * nobody could claim. What was there before its project became stricter may stay as it is. Throws
 * `invalid_request` that names the field given, or the priority when none was.
 */
export async function requireAllowedPriority(
  sql: Sql,
  ctx: Ctx,
  after: TaskFields,
  before?: TaskFields,
): Promise<void> {
  const { priority, workspaceId } = after
  if (priority === before?.priority && workspaceId === before.workspaceId) return
  const rules = await readWorkRules(sql, ctx, workspaceId)
  if (!rules || allowsPriority(rules, after)) return
  const { projectId } = rules
  const { allowedTaskPriorities } = rules.governance
  const loc = before && priority === before.priority ? 'body.workspaceId' : 'body.priority'
  const message = `leads to priority ${priority}, which project "${projectId}" does not allow`
  throw new AppError('invalid_request', `Cannot read the request: ${loc} ${message}`, {
    details: { errors: [{ loc, message }], projectId, priority, allowedTaskPriorities },
  })
}

/** The tasks that their projects allow to be claimed. Reads once per workspace what holds there. */
export async function permittedOnly(
  sql: Sql,
  ctx: Ctx,
  tasks: readonly TaskRow[],
): Promise<TaskRow[]> {
  const rulesIn = new Map<string | null, WorkRules | undefined>()
  const permitted: TaskRow[] = []
  for (const task of tasks) {
    const { workspaceId } = task
    if (!rulesIn.has(workspaceId)) {
      rulesIn.set(workspaceId, await readWorkRules(sql, ctx, workspaceId))
    }
    const rules = rulesIn.get(workspaceId)
    if (!rules || allowsPriority(rules, task)) permitted.push(task)
  }
  return permitted
}

function allowsPriority(
  { governance }: WorkRules,
  { priority }: Pick<TaskRow, 'priority'>,
): boolean {
  const { allowedTaskPriorities } = governance
  return allowedTaskPriorities === null || allowedTaskPriorities.includes(priority)
}
