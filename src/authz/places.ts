import type { Route, RouteInput } from '#contract/route.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, IamIdentity } from '#lib/ctx.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import type { Resource, Subject } from './decision-point.ts'
import { givesRights, namedResources } from './named-resources.ts'
import { isPlaceable, selectPlaced } from './resource.sql.ts'

/** Something that a decision is about, and where it is. */
export interface Place {
  resource: Resource
  workspaceId: string | null
  /** The workspace and its ancestors, nearest first. */
  line: readonly string[]
  /** False for what we know no table of: it may be anywhere. */
  isKnown: boolean
}

/** The subject is who the issuer says it is; what we call it comes along. */
export function subjectOf(ctx: Ctx, iam: IamIdentity): Subject {
  const { issuer, principalId: id, principalKind } = iam
  const { tenantId, actorId: principalId } = ctx
  return { type: principalKind, id, properties: { issuer, tenantId, principalId } }
}

export function tenantPlace({ tenantId }: Ctx): Place {
  const properties = { tenantId, workspaceIds: [] }
  const resource = { type: 'tenant', id: tenantId, properties }
  return { resource, workspaceId: null, line: [], isKnown: true }
}

/**
 * Everything that the request names and the tenant has; what it does not have is for the route to miss. Who
 * hands out rights that hold everywhere names the tenant.
 */
export async function placesOf(
  sql: Sql,
  ctx: Ctx,
  route: Route,
  input: RouteInput<Route>,
): Promise<Place[]> {
  const { tenantId } = ctx
  const places: Place[] = givesRights(input) ? [tenantPlace(ctx)] : []
  for (const { type, ref } of namedResources(route, input)) {
    const row = await selectPlaced(sql, { tenantId }, { type, ref })
    if (!row) continue
    const { id, workspaceId } = row
    const ancestors =
      workspaceId === null ? [] : await selectAncestors(sql, { tenantId }, workspaceId)
    const line = ancestors.map((one) => one.id)
    const resource = { type, id, properties: { tenantId, workspaceIds: line } }
    places.push({ resource, workspaceId, line, isKnown: isPlaceable(type) })
  }
  return places
}
