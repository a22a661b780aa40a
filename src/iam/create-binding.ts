import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { checkPlaceOfRights } from '#org/create-api-key.ts'
import { grantable, requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { insertBinding } from './binding.sql.ts'
import type { BindingRow } from './binding.sql.ts'

export type NewBinding = Pick<
  BindingRow,
  'principalId' | 'issuer' | 'iamTenantId' | 'iamPrincipalId' | 'workspaceId'
> & { permissions: readonly string[] }

/**
 * Binds an identity of another issuer to a principal. The caller can give only what the caller holds (see
 * `grantable`), within what the caller reaches. Throws `not_found`, and `iam_binding_exists` for an identity
 * that is bound, here or in another tenant: its tokens do not say where they are meant for.
 */
export async function createBinding(sql: Sql, ctx: Ctx, input: NewBinding): Promise<BindingRow> {
  requirePermission(ctx, 'principals.write')
  const { principalId, issuer, iamPrincipalId } = input
  const id = newId()
  await lockEntities(sql, ctx, [
    { type: 'iam_binding', id },
    { type: 'principal', id: principalId },
  ])
  const principal = found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  const permissions = grantable(ctx, principal.kind, input.permissions)
  await checkPlaceOfRights(sql, ctx, { workspaceId: input.workspaceId, permissions })
  const row = { ...input, id, permissions }
  const binding = await insertBinding(sql, ctx, row).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'iam_identity_unique')) throw cause
    throw new AppError('iam_binding_exists', 'Cannot bind the identity: it is bound', {
      details: { issuer, iamPrincipalId },
      cause,
    })
  })
  await appendEvent(sql, ctx, {
    type: 'iam_binding.created',
    entityType: 'iam_binding',
    entityId: id,
    entityVersion: binding.version,
    workspaceId: null,
    payload: { principalId, issuer, permissions },
  })
  return binding
}
