import type { TaskChanges } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { selectGoal } from '#goals/goal.sql.ts'
import { requirePlace } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { requireActive } from '#org/workspace.ts'
import type { TaskFields } from './task.sql.ts'

const EMPTY: Omit<TaskFields, 'title'> = {
  description: '',
  priority: 'medium',
  ownerId: null,
  assigneeId: null,
  workspaceId: null,
  goalId: null,
  customFields: {},
  startDate: null,
  dueDate: null,
  acceptance: [],
  evidence: [],
  requirements: { roles: [], capabilities: [], skills: [] },
}

/** What a caller may send of a task; absent fields stay as they are. */
export type TaskInput = Omit<TaskChanges, 'status' | 'claimId' | 'fencingToken'>

export function newTaskFields(input: TaskInput & { title: string }): TaskFields {
  return { ...EMPTY, title: input.title, ...given(input) }
}

export function changedTaskFields(before: TaskFields, input: TaskInput): TaskFields {
  return { ...fieldsOf(before), ...given(input) }
}

/** Names of the fields that differ, as the contract spells them. */
export function differingFields(before: TaskFields, after: TaskFields): string[] {
  return FIELDS.filter((key) => canonicalJson(before[key]) !== canonicalJson(after[key]))
}

/**
 * True when a task with these fields changed asks for something else. When and why it is to be done, by
 * whom, and how far it has come make no difference.
 */
export function revisesTask(changed: readonly string[]): boolean {
  return changed.some((name) => ASKS.has(name))
}

const ASKS: ReadonlySet<string> = new Set<keyof TaskFields>([
  'title',
  'description',
  'acceptance',
  'customFields',
  'requirements',
  'workspaceId',
])

const FIELDS = ['title', ...Object.keys(EMPTY)] as (keyof TaskFields)[]

function fieldsOf(task: TaskFields): TaskFields {
  return Object.fromEntries(FIELDS.map((key) => [key, task[key]])) as unknown as TaskFields
}

function given(input: TaskInput): Partial<TaskFields> {
  const known = FIELDS.filter((key) => input[key] !== undefined)
  return Object.fromEntries(known.map((key) => [key, input[key]]))
}

/**
 * Checks what a task newly refers to, and spells the ids as the database does: principals of the tenant,
 * a goal, and a workspace that still takes work, within the caller's reach. Throws `not_found`,
 * `workspace_archived`, `permission_denied`.
 */
export async function resolveReferences(
  sql: Sql,
  ctx: Ctx,
  after: TaskFields,
  before?: TaskFields,
): Promise<TaskFields> {
  const principal = async (key: 'ownerId' | 'assigneeId') => {
    const id = after[key]
    if (id === null || id === before?.[key]) return id
    return found(await selectPrincipal(sql, ctx, id), 'principal', id).id
  }
  requirePlace(ctx, after.workspaceId)
  const { goalId } = after
  if (goalId !== null && goalId !== before?.goalId) {
    found(await selectGoal(sql, ctx, goalId), 'goal', goalId)
  }
  return {
    ...after,
    ownerId: await principal('ownerId'),
    assigneeId: await principal('assigneeId'),
    workspaceId:
      after.workspaceId === null || after.workspaceId === before?.workspaceId
        ? after.workspaceId
        : await openWorkspace(sql, ctx, after.workspaceId),
  }
}

/** The id of a workspace that takes work. Throws `not_found`, `workspace_archived`. */
export async function openWorkspace(sql: Sql, ctx: Ctx, id: string): Promise<string> {
  const workspace = found(await selectWorkspace(sql, ctx, id), 'workspace', id)
  requireActive(workspace)
  return workspace.id
}
