import type { StatusCategory } from '#contract/task-types.ts'
import type { Origin, Priority, Requirements } from '#contract/tasks.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { isUuid } from '#lib/id.ts'

export interface TaskRow {
  id: string
  /** Public number within the tenant, decimal text. */
  number: string
  title: string
  description: string
  typeKey: string
  typeVersion: number
  status: string
  statusCategory: StatusCategory
  priority: Priority
  ownerId: string | null
  assigneeId: string | null
  workspaceId: string | null
  goalId: string | null
  /** The claim that is live by the database clock at the time of the query. */
  activeClaimId: string | null
  lastFencingToken: number
  customFields: Record<string, unknown>
  startDate: string | null
  dueDate: string | null
  origin: Origin | null
  acceptance: unknown[]
  evidence: unknown[]
  requirements: Requirements
  /** Counts the changes of what the task asks for. */
  revision: number
  version: number
  createdBy: string
  createdAt: Date
  updatedAt: Date
  completedAt: Date | null
}

/** What a caller may set; the rest follows from commands. */
export type TaskFields = Pick<
  TaskRow,
  | 'title'
  | 'description'
  | 'priority'
  | 'ownerId'
  | 'assigneeId'
  | 'workspaceId'
  | 'goalId'
  | 'customFields'
  | 'startDate'
  | 'dueDate'
  | 'acceptance'
  | 'evidence'
  | 'requirements'
>

/** Columns of tasks `t` with the claim `c` and session `s` of {@link liveClaim}. */
export function taskColumns(sql: Sql) {
  return sql`t.id, t.number, t.title, t.description, t.type_key, t.type_version, t.status,
    t.status_category, t.priority, t.owner_id, t.assignee_id, t.workspace_id, t.goal_id,
    case when ${isLiveClaim(sql)} then c.id end as active_claim_id,
    t.last_fencing_token, t.custom_fields, t.start_date::text as start_date,
    t.due_date::text as due_date, t.origin, t.acceptance, t.evidence, t.requirements, t.revision, t.version,
    t.created_by, t.created_at, t.updated_at, t.completed_at`
}

/**
 * Joins the active claim of tasks `t`, live or not: only the newest can be active. Found by the key
 * one_claim_per_token, whose entries do not die with the claims as those of the indexes of active ones do.
 */
export function joinClaim(sql: Sql) {
  return sql`
    left join claims c
      on c.tenant_id = t.tenant_id and c.task_id = t.id
      and c.fencing_token = t.last_fencing_token and c.ended_at is null
    left join sessions s on s.tenant_id = c.tenant_id and s.id = c.session_id`
}

export function isLiveClaim(sql: Sql) {
  return sql`coalesce(c.expires_at > clock_timestamp()
    and s.status = 'active' and s.expires_at > clock_timestamp(), false)`
}

/** Takes the tenant's next public number; a number whose transaction rolls back is not used again. */
export async function insertTask(
  sql: Sql,
  ctx: Ctx,
  task: TaskFields &
    Pick<TaskRow, 'id' | 'typeKey' | 'typeVersion' | 'status' | 'statusCategory' | 'origin'>,
): Promise<void> {
  await sql`
    with next as (
      insert into task_numbers as n (tenant_id, last_number)
      values (${ctx.tenantId}, 1)
      on conflict (tenant_id) do update set last_number = n.last_number + 1
      returning last_number)
    insert into tasks
      (tenant_id, id, number, title, description, type_key, type_version, status, status_category,
       priority, owner_id, assignee_id, workspace_id, goal_id, custom_fields, start_date, due_date, origin,
       acceptance, evidence, requirements, created_by)
    select ${ctx.tenantId}, ${task.id}, next.last_number, ${task.title}, ${task.description},
           ${task.typeKey}, ${task.typeVersion}, ${task.status}, ${task.statusCategory},
           ${task.priority}, ${task.ownerId}, ${task.assigneeId}, ${task.workspaceId},
           ${task.goalId}, ${sql.json(task.customFields as never)}, ${task.startDate}::text::date,
           ${task.dueDate}::text::date,
           ${task.origin === null ? null : sql.json(task.origin as never)},
           ${sql.json(task.acceptance as never)}, ${sql.json(task.evidence as never)},
           ${sql.json(task.requirements)}, ${ctx.actorId}
    from next`
}

/** By id or public id (`TASK-000123`). */
export async function selectTask(
  sql: Sql,
  ctx: Tenancy,
  ref: string,
): Promise<TaskRow | undefined> {
  const [row] = await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from tasks t
    ${joinClaim(sql)}
    where t.tenant_id = ${ctx.tenantId}
      and ${isUuid(ref) ? sql`t.id = ${ref}` : sql`t.number = ${numberOf(ref)}::bigint`}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/** The id alone: what a command needs before it can lock the task. */
export async function selectTaskId(
  sql: Sql,
  ctx: Tenancy,
  ref: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from tasks
    where tenant_id = ${ctx.tenantId}
      and ${isUuid(ref) ? sql`id = ${ref}` : sql`number = ${numberOf(ref)}::bigint`}
      ${inReach(sql, ctx, 'tasks.workspace_id')}`
  return row?.id
}

function numberOf(publicId: string): string {
  return publicId.slice('TASK-'.length)
}

/** Notes that the caller changed what a task asks for. */
export async function insertReviser(sql: Sql, ctx: Ctx, taskId: string): Promise<void> {
  await sql`
    insert into task_revisers (tenant_id, task_id, principal_id)
    values (${ctx.tenantId}, ${taskId}, ${ctx.actorId})
    on conflict (tenant_id, task_id, principal_id) do nothing`
}

/** With `revises` the task asks for something else from now on; see {@link insertReviser}. */
export async function updateTaskFields(
  sql: Sql,
  ctx: Tenancy,
  task: TaskFields & Pick<TaskRow, 'id' | 'status' | 'statusCategory'> & { revises: boolean },
): Promise<void> {
  await sql`
    update tasks
    set title = ${task.title},
        description = ${task.description},
        priority = ${task.priority},
        owner_id = ${task.ownerId},
        assignee_id = ${task.assigneeId},
        workspace_id = ${task.workspaceId},
        goal_id = ${task.goalId},
        custom_fields = ${sql.json(task.customFields as never)},
        start_date = ${task.startDate}::text::date,
        due_date = ${task.dueDate}::text::date,
        acceptance = ${sql.json(task.acceptance as never)},
        evidence = ${sql.json(task.evidence as never)},
        requirements = ${sql.json(task.requirements)},
        status = ${task.status},
        status_category = ${task.statusCategory},
        ${task.revises ? sql`revision = revision + 1,` : sql``}
        version = version + 1,
        updated_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${task.id}`
}

/** Where a locked task goes; with a token when a claim takes it there. */
export interface TaskMove {
  id: string
  status: string
  statusCategory: StatusCategory
  fencingToken?: number
}

/** What a move changes beside the status. */
export type TaskMoved = Pick<TaskRow, 'version' | 'updatedAt' | 'completedAt'>

/** The statement that moves a task: by itself, or as part of one that does more. */
export function moveTask(sql: Sql, ctx: Tenancy, task: TaskMove) {
  const { id, status, statusCategory, fencingToken } = task
  return sql<[TaskMoved]>`
    update tasks
    set status = ${status},
        status_category = ${statusCategory},
        ${fencingToken === undefined ? sql`` : sql`last_fencing_token = ${fencingToken},`}
        ${statusCategory === 'terminal_success' ? sql`completed_at = clock_timestamp(),` : sql``}
        version = version + 1,
        updated_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning version, updated_at, completed_at`
}

export async function updateTaskStatus(sql: Sql, ctx: Tenancy, task: TaskMove): Promise<TaskMoved> {
  const [row] = await moveTask(sql, ctx, task)
  return row
}

/** Raises the version for a change beside the task's own row. @returns the version afterwards */
export async function touchTask(sql: Sql, ctx: Tenancy, id: string): Promise<number> {
  const [row] = await sql<[{ version: number }]>`
    update tasks
    set version = version + 1, updated_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning version`
  return row.version
}

/** Part of a change that raises the version; see {@link updateTaskStatus}. */
export async function updateTaskEvidence(
  sql: Sql,
  ctx: Tenancy,
  task: { id: string; evidence: unknown[] },
): Promise<void> {
  await sql`
    update tasks
    set evidence = ${sql.json(task.evidence as never)}
    where tenant_id = ${ctx.tenantId}
      and id = ${task.id}`
}
