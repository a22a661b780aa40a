import { CHILD_HANDLE_HEADER } from '#contract/child-run.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { selectGrant } from './child-handle.sql.ts'
import { parseHandleToken } from './child.ts'

/**
 * The caller with no more rights than the handle that came with the request. Throws
 * `invalid_credentials` for what is no handle of the tenant, `child_handle_revoked`,
 * `child_handle_expired`.
 */
export async function narrowCaller(sql: Sql, ctx: Ctx, token: string): Promise<Ctx> {
  const hash = parseHandleToken(token)
  const grant = hash && (await selectGrant(sql, ctx, hash))
  if (!grant) {
    throw new AppError('invalid_credentials', `Cannot accept the ${CHILD_HANDLE_HEADER}`)
  }
  const { id, isRevoked, isExpired, permissions, ...limits } = grant
  if (isRevoked) throw ended('child_handle_revoked', id, 'revoked')
  if (isExpired) throw ended('child_handle_expired', id, 'expired')
  const narrowed = permissions.filter((name) => permits(ctx.permissions, name as never))
  return {
    ...ctx,
    permissions: new Set(narrowed),
    childGrant: { ...limits, permissions, handleId: id, credentialPermissions: ctx.permissions },
  }
}

function ended(code: 'child_handle_revoked' | 'child_handle_expired', id: string, state: string) {
  return new AppError(code, `Cannot use child handle "${id}": it is ${state}`)
}
