import type { ApprovalStatus } from '#contract/approvals.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { isStale } from '#work/gate.sql.ts'
import { isMaker } from './maker.sql.ts'

export interface ApprovalRow {
  id: string
  taskId: string | null
  taskRevision: number | null
  artifactId: string | null
  workspaceId: string | null
  requiredRoleId: string | null
  assignedPrincipalId: string | null
  gate: boolean
  comment: string | null
  afterAttempt: number | null
  status: ApprovalStatus
  stale: boolean
  requestedBy: string
  decidedBy: string | null
  decidedAt: Date | null
  decisionComment: string | null
  version: number
  createdAt: Date
}

/** Approvals `a` of tasks `t`. */
function selectJoined(sql: Sql) {
  return sql`
    select a.id, a.task_id, a.task_revision, a.artifact_id, a.workspace_id, a.required_role_id,
           a.assigned_principal_id, a.gate, a.comment, a.after_attempt, a.status,
           ${isStale(sql, 'a', 't')} as stale, a.requested_by, a.decided_by, a.decided_at,
           a.decision_comment, a.version, a.created_at
    from approvals a
    left join tasks t on t.tenant_id = a.tenant_id and t.id = a.task_id`
}

/** What is asked for; the first revision of the artifact and the runs so far are found on the way. */
export async function insertApproval(
  sql: Sql,
  ctx: Ctx,
  approval: Pick<ApprovalRow, 'id' | 'taskId' | 'taskRevision' | 'artifactId' | 'workspaceId'> &
    Pick<ApprovalRow, 'requiredRoleId' | 'assignedPrincipalId' | 'gate' | 'comment'> & {
      /** Under which it is asked for. */
      claim: { id: string; fencingToken: number } | undefined
    },
): Promise<void> {
  const a = approval
  await sql`
    insert into approvals
      (tenant_id, id, task_id, task_revision, artifact_id, artifact_root_id, workspace_id,
       required_role_id, assigned_principal_id, gate, comment, after_attempt, claim_id,
       fencing_token, requested_by)
    select ${ctx.tenantId}, ${a.id}, ${a.taskId}, ${a.taskRevision}, ${a.artifactId}, (
             with recursive earlier as (
               select id, supersedes_artifact_id
               from artifacts
               where tenant_id = ${ctx.tenantId}
                 and id = ${a.artifactId}
               union all
               select p.id, p.supersedes_artifact_id
               from earlier
               join artifacts p on p.tenant_id = ${ctx.tenantId}
                 and p.id = earlier.supersedes_artifact_id
             )
             select id
             from earlier
             where supersedes_artifact_id is null),
           ${a.workspaceId}, ${a.requiredRoleId}, ${a.assignedPrincipalId}, ${a.gate}, ${a.comment},
           case when ${a.taskId}::uuid is not null then (
             select coalesce(max(attempt), 0)
             from runs
             where tenant_id = ${ctx.tenantId}
               and task_id = ${a.taskId}) end,
           ${a.claim?.id ?? null}, ${a.claim?.fencingToken ?? null}, ${ctx.actorId}`
}

export async function selectApproval(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<ApprovalRow | undefined> {
  const [row] = await sql<ApprovalRow[]>`
    ${selectJoined(sql)}
    where a.tenant_id = ${ctx.tenantId}
      and a.id = ${id}
      ${inReach(sql, ctx, 'a.workspace_id')}`
  return row
}

/** To whom approvals are addressed: to a person, or to any of the roles. */
export interface Addressee {
  principalId: string
  roleIds: readonly string[]
}

function isAddressedTo(sql: Sql, { principalId, roleIds }: Addressee) {
  return sql`(a.assigned_principal_id = ${principalId}
    or a.required_role_id = any(${[...roleIds]}::uuid[]))`
}

export interface ApprovalFilter {
  status?: ApprovalStatus | undefined
  taskId?: string | undefined
  artifactId?: string | undefined
  workspaceIds?: readonly string[] | undefined
  addressee?: Addressee | undefined
  /** Leaves out what this principal asked for or made. */
  notBy?: string | undefined
}

/**
 * Newest first. Uses indexes approvals_by_time, approvals_by_task, approvals_by_artifact,
 * approvals_by_workspace, approvals_of_role, approvals_of_person. Reads one row more than the page holds.
 */
export async function selectApprovals(
  sql: Sql,
  ctx: Tenancy,
  filter: ApprovalFilter & { page: PageRequest },
): Promise<ApprovalRow[]> {
  const { page, status, taskId, artifactId, workspaceIds, addressee, notBy } = filter
  const places = workspaceIds && sql`and a.workspace_id = any(${[...workspaceIds]}::uuid[])`
  return await sql<ApprovalRow[]>`
    select found.*
    from (
      ${selectJoined(sql)}
      where a.tenant_id = ${ctx.tenantId}
        ${status === undefined ? sql`` : sql`and a.status = ${status}`}
        ${taskId === undefined ? sql`` : sql`and a.task_id = ${taskId}`}
        ${artifactId === undefined ? sql`` : sql`and a.artifact_id = ${artifactId}`}
        ${places ?? sql``}
        ${addressee ? sql`and ${isAddressedTo(sql, addressee)}` : sql``}
        ${notBy === undefined ? sql`` : sql`and a.requested_by <> ${notBy} and not ${isMaker(sql, notBy)}`}
        ${inReach(sql, ctx, 'a.workspace_id')}
    ) as found
    where true
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** Whether a principal made what an approval is about. */
export async function selectIsMaker(
  sql: Sql,
  ctx: Tenancy,
  approval: { id: string; principalId: string },
): Promise<boolean> {
  const rows = await sql`
    select
    from approvals a
    left join tasks t on t.tenant_id = a.tenant_id and t.id = a.task_id
    where a.tenant_id = ${ctx.tenantId}
      and a.id = ${approval.id}
      and ${isMaker(sql, approval.principalId)}`
  return rows.length > 0
}

/** Takes an approval from one status to another. @returns its version, or undefined when it had left the first */
export async function updateApprovalDecided(
  sql: Sql,
  ctx: Ctx,
  decision: {
    id: string
    from: ApprovalStatus
    status: Exclude<ApprovalStatus, 'pending'>
    comment: string | null
  },
): Promise<number | undefined> {
  const { id, from, status, comment } = decision
  const [row] = await sql<{ version: number }[]>`
    update approvals
    set status = ${status},
        decided_by = ${ctx.actorId},
        decided_at = clock_timestamp(),
        decision_comment = ${comment},
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      and status = ${from}
    returning version`
  return row?.version
}
