import { HUMAN_ONLY, PERMISSIONS } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Route, RouteInput } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import { readThrough } from '#iam/identity-cache.ts'
import { withinScopes } from '#iam/scope.ts'
import type { Ctx, IamIdentity, Reach } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import type { DecisionPoint, Resource, Subject } from './decision-point.ts'
import { namedResources } from './named-resources.ts'
import { selectLines, selectPlaced } from './resource.sql.ts'

export interface PolicyOptions {
  db: Database
  point: DecisionPoint
  /** How long a decision is kept, in seconds. */
  cacheSeconds: number
  now?: () => number
}

export type Decide = (ctx: Ctx, route: Route, input: RouteInput<Route>) => Promise<Ctx>

/** What a route that only needs a credential is taken to read. */
const READS: Permission = 'tasks.read'

/**
 * Lets a decision point decide what the holder of an access token may do, with everything that the request
 * names, instead of the binding's permissions; the token's scopes go on narrowing. Answers the caller with
 * the permissions and the reach that the decision point allows, so that commands need not know who decided.
 * Local keys stay with their own permissions.
 *
 * Throws `permission_denied`, and `policy_unavailable` when there is no decision to be had.
 */
export function policyDecider(options: PolicyOptions): Decide {
  const { db, point, cacheSeconds, now = Date.now } = options
  const times = { freshSeconds: cacheSeconds, staleSeconds: cacheSeconds }
  const decisions = readThrough<readonly string[]>(times, now)
  const searches = readThrough<readonly string[]>(times, now)

  const allowedOn = async (who: Asker, resource: Resource) =>
    (await decisions(`${who.key} ${resource.type}:${resource.id}`, () =>
      point.allowed(who.subject, resource, PERMISSIONS),
    )) ?? []
  const workspacesFor = async (who: Asker, action: string) =>
    (await searches(`${who.key} ${action}`, async () => {
      const lines = await selectLines(db, { tenantId: who.ctx.tenantId })
      const { tenantId } = who.ctx
      const candidates = lines.map(({ id, workspaceIds }) => ({
        id,
        properties: { tenantId, workspaceIds },
      }))
      return await point.search(who.subject, action, { type: 'workspace', tenantId, candidates })
    })) ?? []

  return async (ctx, route, input) => {
    const { iam } = ctx
    const { access } = route
    if (iam === undefined || access === 'public' || access === 'bootstrap') return ctx
    const who = askerOf(ctx, iam)
    const places = await placesOf(db, ctx, route, input)
    const tenant = tenantResource(ctx)
    const onTenant = await allowedOn(who, tenant)
    const onEach = await Promise.all(places.map(({ resource }) => allowedOn(who, resource)))
    const action = access === 'authenticated' ? READS : access
    const isAdmin = onTenant.includes('admin')
    const searched = [action, ...(isAdmin ? ['admin'] : [])]
    const lists = await Promise.all(searched.map((name) => workspacesFor(who, name)))
    const listed = lists.flat()
    const isListing = places.length === 0 && route.method === 'GET' && listed.length > 0
    const common = intersection(onEach.length > 0 ? onEach : [onTenant])
    const permissions = narrowed(ctx, iam, isListing ? [...common, action] : common)
    const decided = { ...ctx, permissions }
    if (access !== 'authenticated') requirePermission(decided, access)
    const own = places.flatMap(({ workspaceId }) => (workspaceId === null ? [] : [workspaceId]))
    const reach = reachOf(ctx, {
      workspaceIds: [...new Set([...listed, ...own])],
      unplaced:
        isAdmin ||
        onTenant.includes(action) ||
        places.some(({ workspaceId }) => workspaceId === null),
    })
    return { ...decided, reach }
  }
}

interface Asker {
  ctx: Ctx
  subject: Subject
  key: string
}

/** The subject is who the issuer says it is; what we call it comes along. */
export function subjectOf(ctx: Ctx, iam: IamIdentity): Subject {
  const { issuer, principalId: id, principalKind } = iam
  const { tenantId, actorId: principalId } = ctx
  return { type: principalKind, id, properties: { issuer, tenantId, principalId } }
}

function askerOf(ctx: Ctx, iam: IamIdentity): Asker {
  return {
    ctx,
    subject: subjectOf(ctx, iam),
    key: `${ctx.tenantId} ${iam.issuer} ${iam.principalId}`,
  }
}

export function tenantResource({ tenantId }: Ctx): Resource {
  return { type: 'tenant', id: tenantId, properties: { tenantId, workspaceIds: [] } }
}

interface Place {
  resource: Resource
  workspaceId: string | null
}

/** Everything that the request names and the tenant has; what it does not have is for the route to miss. */
export async function placesOf(
  db: Database,
  ctx: Ctx,
  route: Route,
  input: RouteInput<Route>,
): Promise<Place[]> {
  const { tenantId } = ctx
  const places = await Promise.all(
    namedResources(route, input).map(async ({ type, ref }): Promise<Place[]> => {
      const row = await selectPlaced(db, ctx, { type, ref })
      if (!row) return []
      const line =
        row.workspaceId === null ? [] : await selectAncestors(db, { tenantId }, row.workspaceId)
      const properties = { tenantId, workspaceIds: line.map(({ id }) => id) }
      return [{ resource: { type, id: row.id, properties }, workspaceId: row.workspaceId }]
    }),
  )
  return places.flat()
}

function intersection(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...rest] = lists
  return first.filter((name) => rest.every((list) => list.includes(name)))
}

/** A token, a child handle and the kind of principal narrow what a decision point allows. */
function narrowed(ctx: Ctx, iam: IamIdentity, allowed: readonly string[]): Set<string> {
  const within = withinScopes(iam.scopes, new Set(allowed))
  return new Set(
    [...within].filter((name) => {
      const isForKind = iam.principalKind === 'human' || !HUMAN_ONLY.has(name)
      return isForKind && (!ctx.childGrant || ctx.permissions.has(name))
    }),
  )
}

/** A binding that is limited to a workspace keeps its limit. */
function reachOf(ctx: Ctx, decided: Omit<Extract<Reach, { kind: 'listed' }>, 'kind'>): Reach {
  return ctx.reach?.kind === 'subtree' ? ctx.reach : { kind: 'listed', ...decided }
}
