import type { Entity } from '#events/append.ts'
import type { Tenancy } from '#lib/ctx.ts'

/**
 * The lock that everything takes which changes the shape of a tenant's workspace trees, or decides by
 * the whole line of a workspace: with it, what was read of the trees stays true until the commit.
 */
export function treeEntity({ tenantId }: Tenancy): Entity {
  return { type: 'workspace_tree', id: tenantId }
}
