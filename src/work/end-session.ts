import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents, lockEntities } from '#events/append.ts'
import type { Author, Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectClaimsOfSession } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { requireLive, requireSession } from './live-session.ts'
import { taskEntity } from './lock-task.ts'
import { selectSession, updateSessionEnded } from './session.sql.ts'
import type { SessionRow } from './session.sql.ts'

/**
 * Closes a live session and releases its claims. Throws `not_found`, `session_owner_mismatch`,
 * `session_expired`, `session_not_active`.
 */
export async function closeSession(sql: Sql, ctx: Ctx, id: string): Promise<SessionRow> {
  await lockEntities(sql, ctx, [{ type: 'session', id }])
  requireLive(await requireSession(sql, ctx, id))
  await endSession(sql, ctx, id, 'closed')
  return found(await selectSession(sql, ctx, id), 'session', id)
}

/**
 * Ends a session whose lock the caller holds. A claim is made under the same lock, so the claims read
 * here are all there are; sessions are locked before tasks everywhere, so nobody waits in a circle.
 */
export async function endSession(
  sql: Sql,
  author: Author,
  id: string,
  status: 'closed' | 'expired',
): Promise<void> {
  const claims = await selectClaimsOfSession(sql, author, id)
  await lockEntities(
    sql,
    author,
    claims.map((claim) => taskEntity(claim.taskId)),
  )
  const session = await updateSessionEnded(sql, author, { id, status })
  if (!session) return
  const end =
    status === 'closed'
      ? ({ status: 'released', reason: 'session_closed', releaseTask: true } as const)
      : ({ status: 'expired', reason: 'session_expired', releaseTask: true } as const)
  const events: NewEvent[] = []
  let releasedClaims = 0
  for (const claim of claims) {
    const ended = await endClaim(sql, author, claim, end)
    if (ended.length > 0) releasedClaims += 1
    events.push(...ended)
  }
  events.push({
    type: status === 'closed' ? 'session.closed' : 'session.expired',
    entityType: 'session',
    entityId: id,
    entityVersion: session.version,
    workspaceId: null,
    sessionId: id,
    payload: { releasedClaims },
  })
  await appendEvents(sql, author, events)
}
