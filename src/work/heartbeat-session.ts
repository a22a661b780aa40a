import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requireLive, requireSession, requireStandIn } from './live-session.ts'
import { extendSession } from './session.sql.ts'
import type { SessionRow } from './session.sql.ts'

/**
 * Renews the lease of a live session; not an event. One whose lease ended stays ended, also when the
 * end falls between the check and the renewal. `ttlSeconds` undefined keeps the length it has.
 */
export async function heartbeatSession(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; ttlSeconds: number | undefined },
): Promise<SessionRow> {
  const { id, ttlSeconds = null } = input
  const isManager = permits(ctx.permissions, 'sessions.manage')
  const ownerId = isManager ? null : ctx.actorId
  const renewed = await extendSession(sql, ctx, { id, ownerId, ttlSeconds })
  const session = renewed ?? (await requireSession(sql, ctx, id))
  requireLive({ ...session, isLive: renewed !== undefined })
  await requireStandIn(sql, ctx, session, 'sessions.open')
  return session
}
