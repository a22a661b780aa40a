import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReachOrShared } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import type { Held } from './eligibility.ts'

export interface AssignmentRow {
  id: string
  principalId: string
  /** One of the two is given. */
  roleId: string | null
  capabilityId: string | null
  /** Null: wherever the role or capability is known. */
  workspaceId: string | null
  createdBy: string
  createdAt: Date
}

/** What is given to whom, and where. */
export interface Grant {
  kind: 'role' | 'capability'
  /** Of the role or capability. */
  id: string
  principalId: string
  workspaceId: string | null
}

function columns(sql: Sql) {
  return sql`id, principal_id, role_id, capability_id, workspace_id, created_by, created_at`
}

function isOf(sql: Sql, { kind, id }: Pick<Grant, 'kind' | 'id'>) {
  return kind === 'role' ? sql`role_id = ${id}` : sql`capability_id = ${id}`
}

/** Undefined when the principal has it there already. */
export async function insertAssignment(
  sql: Sql,
  ctx: Ctx,
  grant: Grant & { assignmentId: string },
): Promise<AssignmentRow | undefined> {
  const roleId = grant.kind === 'role' ? grant.id : null
  const capabilityId = grant.kind === 'capability' ? grant.id : null
  const [row] = await sql<AssignmentRow[]>`
    insert into assignments
      (tenant_id, id, principal_id, role_id, capability_id, workspace_id, created_by)
    values
      (${ctx.tenantId}, ${grant.assignmentId}, ${grant.principalId}, ${roleId}, ${capabilityId},
       ${grant.workspaceId}, ${ctx.actorId})
    on conflict on constraint one_assignment do nothing
    returning ${columns(sql)}`
  return row
}

/** Uses index one_assignment. */
export async function selectAssignment(
  sql: Sql,
  ctx: Tenancy,
  grant: Grant,
): Promise<AssignmentRow | undefined> {
  const [row] = await sql<AssignmentRow[]>`
    select ${columns(sql)}
    from assignments
    where tenant_id = ${ctx.tenantId}
      and principal_id = ${grant.principalId}
      and ${isOf(sql, grant)}
      and workspace_id is not distinct from ${grant.workspaceId}`
  return row
}

export async function deleteAssignment(sql: Sql, ctx: Tenancy, id: string): Promise<void> {
  await sql`
    delete from assignments
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

/**
 * Of a role, of a capability, or of a principal. Uses indexes assignments_by_role,
 * assignments_by_capability, one_assignment. Reads one row more than the page holds.
 */
export async function selectAssignments(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; of: { kind: 'role' | 'capability' | 'principal'; id: string } },
): Promise<AssignmentRow[]> {
  const { page, of } = filter
  const { kind, id } = of
  return await sql<AssignmentRow[]>`
    select ${columns(sql)}
    from (
      select a.*
      from assignments a
      left join roles r on r.tenant_id = a.tenant_id and r.id = a.role_id
      where a.tenant_id = ${ctx.tenantId}
        and ${kind === 'principal' ? sql`a.principal_id = ${id}` : isOf(sql, { kind, id })}
        ${inReachOrShared(sql, ctx, 'a.workspace_id')}
        ${inReachOrShared(sql, ctx, 'r.workspace_id')}
    ) as assignments
    where true
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/**
 * The roles and capabilities that a principal has at a place: `line` is a workspace with its ancestors,
 * empty for what belongs to no workspace. With `null` for the line, everything the principal has
 * anywhere. Uses index one_assignment.
 */
export async function selectHeld(
  sql: Sql,
  ctx: Tenancy,
  { principalId, line }: { principalId: string; line: readonly string[] | null },
): Promise<Pick<Held, 'roles' | 'capabilities'>> {
  const rows = await sql<{ kind: 'role' | 'capability'; id: string; key: string; name: string }[]>`
    select distinct
           case when a.role_id is null then 'capability' else 'role' end as kind,
           coalesce(a.role_id, a.capability_id) as id,
           coalesce(r.slug, c.name) as key,
           coalesce(r.name, c.name) as name
    from assignments a
    left join roles r on r.tenant_id = a.tenant_id and r.id = a.role_id
    left join capabilities c on c.tenant_id = a.tenant_id and c.id = a.capability_id
    where a.tenant_id = ${ctx.tenantId}
      and a.principal_id = ${principalId}
      ${
        line === null
          ? sql``
          : sql`and coalesce(
              coalesce(a.workspace_id, r.workspace_id) = any(${[...line]}::uuid[]),
              coalesce(a.workspace_id, r.workspace_id) is null)`
      }
    order by key, id`
  return {
    roles: rows
      .filter(({ kind }) => kind === 'role')
      .map(({ id, key, name }) => ({ id, slug: key, name })),
    capabilities: rows
      .filter(({ kind }) => kind === 'capability')
      .map(({ id, name }) => ({ id, name })),
  }
}
