import { PERMISSIONS } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Database } from '#db/sql.ts'
import { readThrough, sharedReads } from '#lib/read-through.ts'
import type { Ctx, IamIdentity } from '#lib/ctx.ts'
import type { DecisionPoint } from './decision-point.ts'
import { subjectOf } from './places.ts'
import type { Place } from './places.ts'
import { selectLines } from './resource.sql.ts'

export interface QuestionOptions {
  db: Database
  point: DecisionPoint
  /** How long an answer is kept, in seconds. */
  cacheSeconds: number
  now?: (() => number) | undefined
}

export interface Questions {
  /** What the caller may do with a thing where it is now. */
  allowedOn: (ctx: Ctx, iam: IamIdentity, place: Place) => Promise<readonly Permission[]>
  /** The workspaces within the caller's reach in which it may do it. */
  workspacesFor: (ctx: Ctx, iam: IamIdentity, action: Permission) => Promise<readonly string[]>
}

/** So many workspaces of a kept answer weigh as much as one decision. */
const IDS_PER_WEIGHT = 10

/**
 * Asks a decision point, once for all who want to know the same at the same time, and keeps what it said.
 * An answer is about a place: what moves is asked about again. Throws `policy_unavailable`.
 */
export function questionsOf({
  db,
  point,
  cacheSeconds,
  now = Date.now,
}: QuestionOptions): Questions {
  const times = { freshSeconds: cacheSeconds, staleSeconds: cacheSeconds }
  const decisions = readThrough<readonly Permission[]>(times, now)
  const searches = readThrough<readonly string[]>(
    times,
    now,
    (ids) => 1 + ids.length / IDS_PER_WEIGHT,
  )
  const decideOnce = sharedReads<readonly Permission[] | undefined>()
  const searchOnce = sharedReads<readonly string[] | undefined>()

  return {
    async allowedOn(ctx, iam, { resource, line }) {
      const key = keyOf(ctx, iam, resource.type, resource.id, line)
      const ask = async () => {
        const allowed = await point.allowed(subjectOf(ctx, iam), resource, PERMISSIONS)
        return exactly(PERMISSIONS.filter((name) => allowed.includes(name)))
      }
      return (await decideOnce(key, () => decisions(key, ask))) ?? []
    },
    async workspacesFor(ctx, iam, action) {
      const { tenantId } = ctx
      const within = ctx.reach?.kind === 'subtree' ? ctx.reach.workspaceId : undefined
      const key = keyOf(ctx, iam, action, within)
      const ask = async () => {
        const lines = await selectLines(db, { tenantId }, { within })
        const candidates = lines.map(({ id, workspaceIds }) => ({
          id,
          properties: { tenantId, workspaceIds },
        }))
        const wish = { type: 'workspace', tenantId, candidates }
        return await point.search(subjectOf(ctx, iam), action, wish)
      }
      return (await searchOnce(key, () => searches(key, ask))) ?? []
    },
  }
}

/** `admin` implies everything here, so it counts only where everything was permitted one by one. */
function exactly(allowed: readonly Permission[]): readonly Permission[] {
  const isEverything = allowed.length === PERMISSIONS.length
  return isEverything ? allowed : allowed.filter((name) => name !== 'admin')
}

function keyOf(ctx: Ctx, { issuer, principalId, principalKind }: IamIdentity, ...rest: unknown[]) {
  return JSON.stringify([ctx.tenantId, ctx.actorId, issuer, principalId, principalKind, ...rest])
}
