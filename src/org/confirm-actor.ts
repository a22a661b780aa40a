import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { invalidCredentials, notActive } from './authenticate.ts'
import { selectStanding } from './credential.sql.ts'

/**
 * Throws `principal_not_active` or `invalid_credentials` when the actor may act no longer: suspended,
 * disabled, its key revoked or expired, its binding ended, since the request was let in. Asked in the
 * transaction of every write before it commits, and now and then by what runs long. One look-up by primary
 * keys.
 */
export async function confirmActor(sql: Sql, ctx: Ctx): Promise<void> {
  if (ctx.credentialId === null && ctx.iam === undefined) return
  const standing = await selectStanding(sql, ctx)
  if (!standing?.credentialLive) throw invalidCredentials()
  const { principalStatus } = standing
  if (principalStatus !== null && principalStatus !== 'active') {
    throw notActive({ principalId: ctx.actorId, principalStatus })
  }
}
