import { selectHeld } from '#access/assignment.sql.ts'
import { decidableNow } from '#approvals/concerning.ts'
import { approvalView } from '#approvals/replies.ts'
import type { HarnessContext } from '#contract/context.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import type { PrincipalRow } from '#org/principal.sql.ts'
import { selectTenant } from '#org/tenant.sql.ts'
import type { TenantRow } from '#org/tenant.sql.ts'
import { runReply } from '#runs/replies.ts'
import { selectActiveRuns, selectSuspendedRuns } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { selectLiveClaims } from '#work/claim.sql.ts'
import type { HeldClaimRow } from '#work/claim.sql.ts'
import { policyAt } from '#skills/read-tools.ts'
import { skillViews } from '#skills/skill-views.ts'
import { sessionReply } from '#work/replies.ts'
import { selectLiveSessions, selectSession } from '#work/session.sql.ts'
import type { SessionRow } from '#work/session.sql.ts'
import { publicIdOf } from '#work/task.ts'

const MAX_ACTIVE = 200
const MAX_SUSPENDED = 20
const MAX_APPROVALS = 50

/**
 * What is true now about the caller. `eventCursor` was read before, in the same transaction, so that
 * whoever follows the journal from there sees a race twice and never misses it.
 *
 * Throws `not_found` for a session that is not the caller's own.
 */
export async function harnessContext(
  sql: Sql,
  ctx: Ctx,
  { sessionId, eventCursor }: { sessionId: string | undefined; eventCursor: string },
): Promise<HarnessContext> {
  const [tenant, principal, held, sessions, claims, runs, suspended, approvals] = await Promise.all(
    [
      selectTenant(sql, ctx),
      selectPrincipal(sql, ctx, ctx.actorId),
      selectHeld(sql, ctx, { principalId: ctx.actorId, line: null }),
      selectLiveSessions(sql, ctx, MAX_ACTIVE),
      selectLiveClaims(sql, ctx, MAX_ACTIVE),
      selectActiveRuns(sql, ctx, MAX_ACTIVE),
      selectSuspendedRuns(sql, ctx, MAX_SUSPENDED),
      decidableNow(sql, ctx, MAX_APPROVALS),
    ],
  )
  const session = sessionId === undefined ? null : await ownSession(sql, ctx, sessionId)
  return {
    protocol: { name: 'control-harness', supportedVersions: ['1', '2'] },
    tenant: tenantView(found(tenant, 'tenant', ctx.tenantId)),
    principal: principalView(found(principal, 'principal', ctx.actorId)),
    session: session && sessionReply(session),
    activeSessions: sessions.map(sessionReply),
    activeClaims: claims.map(claimView),
    activeRuns: runs.map(runView),
    suspendedRuns: suspended.map(runView),
    roles: [...held.roles],
    capabilities: [...held.capabilities],
    skills: await skillsIn(sql, ctx, session ?? sessions[0]),
    pendingApprovals: approvals.map(approvalView),
    eventCursor,
    permissions: [...ctx.permissions].toSorted(),
  }
}

function tenantView({ id, slug, name }: TenantRow) {
  return { id, slug, name }
}

function principalView({ id, kind, displayName }: PrincipalRow) {
  return { id, kind, displayName }
}

async function ownSession(sql: Sql, ctx: Ctx, id: string) {
  const session = await selectSession(sql, ctx, id)
  const own = session?.principalId === ctx.actorId ? session : undefined
  return found(own, 'session', id)
}

/** What the caller has anywhere, judged by its harness alone: what a project allows shows at its work. */
async function skillsIn(sql: Sql, ctx: Ctx, session: SessionRow | undefined) {
  const policy = await policyAt(sql, ctx, { workspaceId: null, session })
  return await skillViews(sql, ctx, { principalId: ctx.actorId, line: null, policy })
}

function claimView(row: HeldClaimRow) {
  const { id, taskId, taskTitle, taskStatus, sessionId, fencingToken } = row
  const taskPublicId = publicIdOf(row.taskNumber)
  const expiresAt = row.expiresAt.toISOString()
  return { id, taskId, taskPublicId, taskTitle, taskStatus, sessionId, fencingToken, expiresAt }
}

/** Without what went in and came out, which can be large. */
function runView(row: RunRow) {
  const { input: _input, output: _output, ...view } = runReply(row)
  return view
}
