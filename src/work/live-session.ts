import { requireDelegation } from '#access/require-delegation.ts'
import { permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { selectSession } from './session.sql.ts'
import type { SessionRow } from './session.sql.ts'

/**
 * Lets a live session of the caller pass, to claim work in. Throws `session_owner_mismatch`,
 * `session_expired`, `session_not_active`, and `delegation_required` for one in the name of a person who
 * delegates that no longer.
 */
export async function requireLiveSession(sql: Sql, ctx: Ctx, session: SessionRow): Promise<void> {
  if (session.principalId !== ctx.actorId) throw ownerMismatch(session.id)
  requireLive(session)
  await requireStandIn(sql, ctx, session, 'tasks.claim')
}

/** Throws `delegation_required` unless the session is in its owner's own name or still delegated. */
export async function requireStandIn(
  sql: Sql,
  ctx: Ctx,
  { principalId, onBehalfOf }: SessionRow,
  permission: Permission,
): Promise<void> {
  if (onBehalfOf === null) return
  await requireDelegation(sql, ctx, { agentId: principalId, onBehalfOf, permission })
}

/** A session that the caller may act on: its own, or any with sessions.manage. */
export async function requireSession(sql: Sql, ctx: Ctx, id: string): Promise<SessionRow> {
  const session = found(await selectSession(sql, ctx, id), 'session', id)
  const may = session.principalId === ctx.actorId || permits(ctx.permissions, 'sessions.manage')
  if (!may) throw ownerMismatch(id)
  return session
}

/** A session that the caller may see; one of somebody else is as good as absent. */
export async function readSession(sql: Sql, ctx: Ctx, id: string): Promise<SessionRow> {
  const session = await selectSession(sql, ctx, id)
  const may = session?.principalId === ctx.actorId || permits(ctx.permissions, 'sessions.manage')
  return found(may ? session : undefined, 'session', id)
}

/** Throws `session_expired` or `session_not_active`. */
export function requireLive(session: SessionRow): void {
  if (session.isLive) return
  const code = session.status === 'closed' ? 'session_not_active' : 'session_expired'
  const state = session.status === 'closed' ? 'closed' : 'expired'
  throw new AppError(code, `Cannot use session "${session.id}": it is ${state}`)
}

function ownerMismatch(id: string): AppError {
  return new AppError('session_owner_mismatch', `Cannot use session "${id}": it is not yours`)
}
