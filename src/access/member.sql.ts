import type { PrincipalKind } from '#contract/org.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface MemberRow {
  /** Of the principal. */
  id: string
  workspaceId: string
  displayName: string
  kind: PrincipalKind
  addedBy: string
  createdAt: Date
}

interface Membership {
  workspaceId: string
  principalId: string
}

/** False when the principal is a member already. */
export async function insertMember(sql: Sql, ctx: Ctx, member: Membership): Promise<boolean> {
  const rows = await sql`
    insert into workspace_members (tenant_id, workspace_id, principal_id, added_by)
    values (${ctx.tenantId}, ${member.workspaceId}, ${member.principalId}, ${ctx.actorId})
    on conflict (tenant_id, workspace_id, principal_id) do nothing
    returning principal_id`
  return rows.length > 0
}

/** False when the principal is no member. */
export async function deleteMember(sql: Sql, ctx: Tenancy, member: Membership): Promise<boolean> {
  const rows = await sql`
    delete from workspace_members
    where tenant_id = ${ctx.tenantId}
      and workspace_id = ${member.workspaceId}
      and principal_id = ${member.principalId}
    returning principal_id`
  return rows.length > 0
}

export async function selectMember(
  sql: Sql,
  ctx: Tenancy,
  member: Membership,
): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    select m.principal_id as id, m.workspace_id, p.display_name, p.kind, m.added_by, m.created_at
    from workspace_members m
    join principals p on p.tenant_id = m.tenant_id and p.id = m.principal_id
    where m.tenant_id = ${ctx.tenantId}
      and m.workspace_id = ${member.workspaceId}
      and m.principal_id = ${member.principalId}`
  return row
}

/** Uses index workspace_members_by_time. Reads one row more than the page holds. */
export async function selectMembers(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; workspaceId: string },
): Promise<MemberRow[]> {
  const { after, limit } = filter.page
  return await sql<MemberRow[]>`
    select m.principal_id as id, m.workspace_id, p.display_name, p.kind, m.added_by, m.created_at
    from workspace_members m
    join principals p on p.tenant_id = m.tenant_id and p.id = m.principal_id
    where m.tenant_id = ${ctx.tenantId}
      and m.workspace_id = ${filter.workspaceId}
      ${after ? sql`and (m.created_at, m.principal_id) < (${after.createdAt}, ${after.id})` : sql``}
    order by m.created_at desc, m.principal_id desc
    limit ${limit + 1}`
}
