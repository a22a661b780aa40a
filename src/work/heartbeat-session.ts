import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requireLive, requireSession, requireStandIn } from './live-session.ts'
import { extendSession, selectSession } from './session.sql.ts'
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
  const { id } = input
  const session = await requireSession(sql, ctx, id)
  requireLive(session)
  await requireStandIn(sql, ctx, session, 'sessions.open')
  const { ttlSeconds = session.ttlSeconds } = input
  const renewed = await extendSession(sql, ctx, { id, ttlSeconds })
  if (renewed) return renewed
  const ended = found(await selectSession(sql, ctx, id), 'session', id)
  requireLive({ ...ended, isLive: false })
  return ended
}
