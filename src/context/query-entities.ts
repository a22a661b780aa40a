import type { z } from 'zod'
import type * as contract from '#contract/knowledge.ts'
import { queryEntities as queryInMemory } from '#contract/memory-reconcile.ts'
import { allowedScopes } from '#contract/visibility.ts'
import type { Transact } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { askKnowledge, knowledgePlace } from './knowledge.ts'
import type { MemoryProvider } from './recall.ts'

type Query = z.output<(typeof contract.queryEntities)['body']>

/** Entities of the workspace's tree that are seen from this workspace. */
export async function queryEntities(
  deps: { transact: Transact; provider: MemoryProvider | null },
  ctx: Ctx,
  query: Query,
) {
  const { workspaceId, kinds, where, asOf, limit, cursor } = query
  const { place, provider } = await knowledgePlace(deps.transact, ctx, {
    provider: deps.provider,
    workspaceId,
    writes: false,
  })
  const focus = [place.workspaceId, ...place.ancestorIds]
  const body = {
    namespaces: [place.namespace],
    kinds,
    limit,
    allowed_namespaces: [place.namespace],
    allowed_scopes: allowedScopes(ctx.actorId, focus, place.reached),
    ...(where !== undefined && { where: where as never }),
    ...(asOf !== undefined && { as_of: asOf }),
    ...(cursor !== undefined && { cursor }),
  }
  const codes = { invalid: 'invalid_request', conflict: 'version_conflict' } as const
  return await askKnowledge(provider, ctx, { route: queryInMemory, input: { body }, codes })
}
