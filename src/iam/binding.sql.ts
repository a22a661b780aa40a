import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export type BindingStatus = 'active' | 'disabled' | 'revoked'

export interface BindingRow {
  id: string
  principalId: string
  issuer: string
  /** The tenant that the issuer has to name in its tokens; null to accept any. */
  iamTenantId: string | null
  iamPrincipalId: string
  permissions: string[]
  /** Limits the binding to this workspace and what is below it. */
  workspaceId: string | null
  status: BindingStatus
  version: number
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, principal_id, issuer, iam_tenant_id, iam_principal_id, permissions, workspace_id,
    status, version, created_at`
}

export async function insertBinding(
  sql: Sql,
  ctx: Tenancy,
  binding: Omit<BindingRow, 'status' | 'version' | 'createdAt'>,
): Promise<BindingRow> {
  const { id, principalId, issuer, iamTenantId, iamPrincipalId } = binding
  const [row] = await sql<[BindingRow]>`
    insert into iam_bindings
      (tenant_id, id, principal_id, issuer, iam_tenant_id, iam_principal_id, permissions,
       workspace_id)
    values
      (${ctx.tenantId}, ${id}, ${principalId}, ${issuer}, ${iamTenantId}, ${iamPrincipalId},
       ${binding.permissions}, ${binding.workspaceId})
    returning ${columns(sql)}`
  return row
}

export async function selectBinding(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<BindingRow | undefined> {
  const [row] = await sql<BindingRow[]>`
    select ${columns(sql)}
    from iam_bindings
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index iam_bindings_by_principal. Reads one row more than the page holds. */
export async function selectBindings(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; principalId: string },
): Promise<BindingRow[]> {
  return await sql<BindingRow[]>`
    select ${columns(sql)}
    from iam_bindings
    where tenant_id = ${ctx.tenantId}
      and principal_id = ${filter.principalId}
      ${olderThan(sql, filter.page)}
    order by created_at desc, id desc
    limit ${filter.page.limit + 1}`
}

export async function updateBindingRow(
  sql: Sql,
  ctx: Tenancy,
  binding: Pick<BindingRow, 'id' | 'permissions' | 'status'>,
): Promise<BindingRow> {
  const [row] = await sql<[BindingRow]>`
    update iam_bindings
    set permissions = ${binding.permissions}, status = ${binding.status}, version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${binding.id}
    returning ${columns(sql)}`
  return row
}

/** Who the holder of a token is here. */
export interface BoundIdentity {
  tenantId: string
  bindingId: string
  principalId: string
  principalKind: 'human' | 'agent' | 'service'
  principalStatus: 'active' | 'suspended' | 'disabled'
  iamTenantId: string | null
  permissions: string[]
  workspaceId: string | null
  status: BindingStatus
}

/**
 * The one look-up by identity that does not know its tenant yet: the row names tenant_id. Uses index
 * iam_identity_unique.
 */
export async function selectBoundIdentity(
  sql: Sql,
  identity: { issuer: string; subject: string },
): Promise<BoundIdentity | undefined> {
  const [row] = await sql<BoundIdentity[]>`
    select b.tenant_id, b.id as binding_id, b.principal_id, p.kind as principal_kind,
           p.status as principal_status, b.iam_tenant_id, b.permissions, b.workspace_id, b.status
    from iam_bindings b
    join principals p on p.tenant_id = b.tenant_id and p.id = b.principal_id
    where b.issuer = ${identity.issuer}
      and b.iam_principal_id = ${identity.subject}`
  return row
}
