import type { Hono } from 'hono'
import * as contract from '#contract/iam.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectBinding, selectBindings } from './binding.sql.ts'
import type { BindingRow } from './binding.sql.ts'
import { createBinding } from './create-binding.ts'
import { updateBinding } from './update-binding.ts'

/** Identities of other issuers and the principals they stand for. */
export function iamRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.createIamBinding, async (sql, ctx, { params, body }) =>
    bindingReply(await createBinding(sql, ctx, { ...body, principalId: params.id })),
  )
  bind(app, deps, contract.listIamBindings, async (sql, ctx, { params: { id }, query }) => {
    found(await selectPrincipal(sql, ctx, id), 'principal', id)
    const page = pageRequest(`iam-bindings/${id}`, query)
    return pageOf(page, await selectBindings(sql, ctx, { page, principalId: id }), bindingReply)
  })
  bind(app, deps, contract.getIamBinding, async (sql, ctx, { params: { id } }) =>
    bindingReply(found(await selectBinding(sql, ctx, id), 'binding', id)),
  )
  bind(app, deps, contract.updateIamBinding, async (sql, ctx, { params, body, expectedVersion }) =>
    bindingReply(await updateBinding(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindingReply(row: BindingRow): contract.IamBinding {
  const { id, principalId, issuer, iamTenantId, iamPrincipalId, permissions, workspaceId } = row
  return {
    id,
    principalId,
    issuer,
    iamTenantId,
    iamPrincipalId,
    permissions,
    workspaceId,
    status: row.status,
    version: row.version,
    createdAt: row.createdAt.toISOString(),
  }
}
