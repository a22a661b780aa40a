import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReachOrShared } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import type { Held } from './eligibility.ts'

export interface AssignmentRow {
  id: string
  principalId: string
  /** One of the three is given. */
  roleId: string | null
  capabilityId: string | null
  skillId: string | null
  /** Null: everywhere, a role wherever it is known. */
  workspaceId: string | null
  createdBy: string
  createdAt: Date
}

/** What is given to whom, and where. */
export interface Grant {
  kind: 'role' | 'capability' | 'skill'
  /** Of the role, capability or skill. */
  id: string
  principalId: string
  workspaceId: string | null
}

function columns(sql: Sql) {
  return sql`id, principal_id, role_id, capability_id, skill_id, workspace_id, created_by, created_at`
}

function isOf(sql: Sql, { kind, id }: Pick<Grant, 'kind' | 'id'>) {
  return sql`${sql(`${kind}_id`)} = ${id}`
}

/** Undefined when the principal has it there already. */
export async function insertAssignment(
  sql: Sql,
  ctx: Ctx,
  grant: Grant & { assignmentId: string },
): Promise<AssignmentRow | undefined> {
  const idOf = (kind: Grant['kind']) => (grant.kind === kind ? grant.id : null)
  const [row] = await sql<AssignmentRow[]>`
    insert into assignments
      (tenant_id, id, principal_id, role_id, capability_id, skill_id, workspace_id, created_by)
    values
      (${ctx.tenantId}, ${grant.assignmentId}, ${grant.principalId}, ${idOf('role')},
       ${idOf('capability')}, ${idOf('skill')}, ${grant.workspaceId}, ${ctx.actorId})
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

/** A skill as far as an assignment of it has to know; what it is, is kept by its own area. */
export async function selectSkillSubject(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<{ version: number } | undefined> {
  const [row] = await sql<{ version: number }[]>`
    select row_version as version
    from skills
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

export async function deleteAssignment(sql: Sql, ctx: Tenancy, id: string): Promise<void> {
  await sql`
    delete from assignments
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

/**
 * Of a role, a capability, a skill, or of a principal. Uses indexes assignments_by_role,
 * assignments_by_capability, assignments_by_skill, one_assignment. Reads one row more than the page holds.
 */
export async function selectAssignments(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; of: { kind: Grant['kind'] | 'principal'; id: string } },
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
 * What a principal has at a place: `line` is a workspace with its ancestors, empty for what belongs to no
 * workspace. With `null` for the line, everything it has anywhere. A skill that is disabled is none. Uses
 * index one_assignment.
 */
export async function selectHeld(
  sql: Sql,
  ctx: Tenancy,
  { principalId, line }: { principalId: string; line: readonly string[] | null },
): Promise<Held> {
  const rows = await sql<{ kind: Grant['kind']; id: string; key: string; name: string }[]>`
    select distinct
           case when a.role_id is not null then 'role'
                when a.capability_id is not null then 'capability'
                else 'skill' end as kind,
           coalesce(a.role_id, a.capability_id, a.skill_id) as id,
           coalesce(r.slug, c.name, s.name) as key,
           coalesce(r.name, c.name, s.name) as name
    from assignments a
    left join roles r on r.tenant_id = a.tenant_id and r.id = a.role_id
    left join capabilities c on c.tenant_id = a.tenant_id and c.id = a.capability_id
    left join skills s on s.tenant_id = a.tenant_id and s.id = a.skill_id
    where a.tenant_id = ${ctx.tenantId}
      and a.principal_id = ${principalId}
      and s.status is distinct from 'disabled'
      ${
        line === null
          ? sql``
          : sql`and (coalesce(a.workspace_id, r.workspace_id) is null
              or coalesce(a.workspace_id, r.workspace_id) = any(${[...line]}::uuid[]))`
      }
    order by key, id`
  const of = (kind: Grant['kind']) => rows.filter((row) => row.kind === kind)
  return {
    roles: of('role').map(({ id, key, name }) => ({ id, slug: key, name })),
    capabilities: of('capability').map(({ id, name }) => ({ id, name })),
    skills: of('skill').map(({ id, name }) => ({ id, name })),
  }
}
