import { HUMAN_ONLY, withinWorkspace } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Route, RouteInput } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import { withinScopes } from '#iam/scope.ts'
import type { Ctx, IamIdentity, Reach } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { pathType } from './named-resources.ts'
import { placesOf, tenantPlace } from './places.ts'
import type { Place } from './places.ts'
import { questionsOf } from './questions.ts'
import type { QuestionOptions, Questions } from './questions.ts'
import { selectLines } from './resource.sql.ts'

export type Decide = (ctx: Ctx, route: Route, input: RouteInput<Route>) => Promise<Ctx>

/** What a route that only needs a credential is taken to read. */
const READS: Permission = 'tasks.read'

/** What such a route may show beside it, each where the caller may read it: what is in workspaces. */
const READ_ALONG: readonly Permission[] = [
  'workspaces.read',
  'projects.read',
  'goals.read',
  'artifacts.read',
  'approvals.read',
  'events.read',
]

/** Listings of these are filtered by workspace; whatever else describes the tenant is decided there. */
const SHOWN: readonly Permission[] = [READS, ...READ_ALONG]

/**
 * Lets a decision point decide what the holder of an access token may do, with everything that the request
 * names, instead of the binding's permissions; the token's scopes, the kind of principal, a child handle and
 * a binding's workspace go on narrowing. Answers the caller with the permissions and the reach that the
 * decision point allows, so that commands need not know who decided. Local keys stay with their own
 * permissions.
 *
 * Throws `permission_denied`, `child_grant_exceeded`, and `policy_unavailable` when there is no decision to
 * be had.
 */
export function policyDecider(options: QuestionOptions): Decide {
  const { db } = options
  const questions = questionsOf(options)
  return async (ctx, route, input) => {
    const { iam } = ctx
    const { access } = route
    if (iam === undefined || access === 'public' || access === 'bootstrap') return ctx
    const places = await placesOf(db, ctx, route, input)
    const { permissions, ...wide } = await answersFor(questions, { ctx, iam }, { route, places })
    const decided = narrowed(ctx, iam, permissions)
    if (access !== 'authenticated') requirePermission(decided, access)
    const reach = {
      // In one order: whoever follows the journal is told when its reach is another.
      workspaceIds: [...new Set([...wide.workspaceIds, ...placedIn(places)])].toSorted(),
      unplaced: wide.unplaced || places.some(isUnplaced),
    }
    return { ...decided, reach: await withinBinding(db, ctx, reach) }
  }
}

/** What the decision point permits with everything that the request names, and where. */
async function answersFor(
  { allowedOn, workspacesFor }: Questions,
  { ctx, iam }: { ctx: Ctx; iam: IamIdentity },
  { route, places }: { route: Route; places: readonly Place[] },
): Promise<Decided> {
  const { access, method } = route
  const action = access === 'authenticated' ? READS : (access as Permission)
  const [onTenant, listed, ...onEach] = await Promise.all([
    allowedOn(ctx, iam, tenantPlace(ctx)),
    workspacesFor(ctx, iam, action),
    ...places.map((place) => allowedOn(ctx, iam, place)),
  ])
  // A listing of what is in workspaces is open to whom some workspace is open; its reach says which.
  const isListing = (method === 'GET' || showsAlong(route)) && SHOWN.includes(action)
  const isUnnamed = places.length === 0
  const unnamed = isListing && listed.length > 0 ? [...onTenant, action] : onTenant
  const asked: Decided = {
    permissions: isUnnamed ? unnamed : intersection(onEach),
    workspaceIds: listed,
    unplaced: onTenant.includes(action),
  }
  if (!showsAlong(route)) return asked
  const where = (name: Permission) => workspacesFor(ctx, iam, name)
  return await alongside(where, { asked, onTenant, isUnnamed })
}

interface Decided {
  permissions: readonly Permission[]
  workspaceIds: readonly string[]
  /** Whether what belongs to no workspace is within reach. */
  unplaced: boolean
}

/** True for `POST /context`, and for listings of things of several kinds. */
function showsAlong(route: Route): boolean {
  return route.access === 'authenticated' && pathType(route) === undefined
}

function placedIn(places: readonly Place[]): string[] {
  return places.flatMap(({ workspaceId }) => (workspaceId === null ? [] : [workspaceId]))
}

function isUnplaced({ workspaceId, isKnown }: Place): boolean {
  return workspaceId === null && isKnown
}

function intersection(lists: readonly (readonly Permission[])[]): Permission[] {
  const [first = [], ...rest] = lists
  return first.filter((name) => rest.every((list) => list.includes(name)))
}

/** The caller with what is left of the decision under its kind, its token, its binding and its handle. */
function narrowed(ctx: Ctx, iam: IamIdentity, allowed: readonly Permission[]): Ctx {
  const isLimited = ctx.reach?.kind === 'subtree'
  const here = isLimited ? withinWorkspace(allowed) : allowed
  const forKind = here.filter((name) => iam.principalKind === 'human' || !HUMAN_ONLY.has(name))
  const permissions = withinScopes(iam.scopes, new Set(forKind))
  const { childGrant } = ctx
  if (!childGrant) return { ...ctx, permissions }
  const granted = new Set(childGrant.permissions)
  return {
    ...ctx,
    permissions: new Set([...permissions].filter((name) => granted.has(name))),
    childGrant: { ...childGrant, credentialPermissions: permissions },
  }
}

/**
 * The same decision for a route that shows several kinds of things together: it reaches only where
 * everything that it may show is permitted, and shows what is permitted wherever it reaches.
 */
async function alongside(
  workspacesFor: (action: Permission) => Promise<readonly string[]>,
  {
    asked,
    onTenant,
    isUnnamed,
  }: { asked: Decided; onTenant: readonly Permission[]; isUnnamed: boolean },
): Promise<Decided> {
  let { workspaceIds, unplaced } = asked
  const permissions = new Set(asked.permissions)
  for (const name of READ_ALONG) {
    const where = new Set(await workspacesFor(name))
    const within = workspaceIds.filter((id) => where.has(id))
    const isEverywhere = isUnnamed && within.length === workspaceIds.length && !unplaced
    if (permissions.has(name)) {
      workspaceIds = within
      unplaced &&= onTenant.includes(name)
    } else if (isEverywhere && workspaceIds.length > 0) permissions.add(name)
  }
  return { permissions: [...permissions], workspaceIds, unplaced }
}

/** A binding that is limited to a workspace keeps its limit. */
async function withinBinding(
  db: Database,
  ctx: Ctx,
  decided: Omit<Decided, 'permissions'>,
): Promise<Reach> {
  const { tenantId, reach } = ctx
  if (reach?.kind !== 'subtree') return { kind: 'listed', ...decided }
  // Found anew each time: what has moved away is out of reach at once, whatever was answered before.
  const inside = await selectLines(db, { tenantId }, { within: reach.workspaceId })
  const ids = new Set(inside.map(({ id }) => id))
  const workspaceIds = decided.workspaceIds.filter((id) => ids.has(id))
  return { kind: 'listed', workspaceIds, unplaced: false }
}
