import * as memory from '#contract/memory-packs.ts'
import type { Manifest } from '#contract/memory-packs.ts'
import type { Transact } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { askKnowledge, knowledgePlace } from './knowledge.ts'
import type { KnowledgePlace } from './knowledge.ts'
import type { MemoryProvider } from './recall.ts'

interface Deps {
  transact: Transact
  provider: MemoryProvider | null
  /** Principals, by their ids here or at the issuer of their tokens, who may register what all share. */
  packAdmins: readonly string[]
}

const CODES = { invalid: 'pack_invalid', conflict: 'pack_version_conflict' } as const

/**
 * Registers a version of a pack: for everybody, which only the platform's own people may, or for the
 * tenant. Memory judges it; its answer is given back as it is.
 *
 * Throws `permission_denied`, `pack_invalid`, `pack_version_conflict`, and for a tenant's pack
 * `pack_name_conflict`, `kind_conflict`, `relation_conflict`.
 */
export async function registerKnowledgePack(
  { transact, provider, packAdmins }: Deps,
  ctx: Ctx,
  { scope, ...manifest }: Manifest & { scope: 'shared' | 'tenant' },
): Promise<{ answer: Record<string, unknown>; isNew: boolean }> {
  if (scope === 'tenant') requirePermission(ctx, 'knowledge.packs.manage')
  else requirePackAdmin(ctx, packAdmins)
  if (!provider) throw disabled()
  const namespace = `${provider.namespacePrefix}${ctx.tenantId}`
  const owner = scope === 'tenant' ? { scope, namespace } : { scope }
  const input = { body: { ...manifest, ...owner } }
  const answer = await askKnowledge(provider, ctx, {
    route: memory.registerPack,
    input,
    codes: CODES,
  })
  const isNew = answer['created'] === true
  const { name, version } = manifest
  const payload = { name, version, scope }
  await transact('read write', async (sql) => {
    await appendEvent(sql, ctx, {
      type: 'knowledge.pack_registered',
      entityType: 'knowledge_pack',
      entityId: ctx.tenantId,
      entityVersion: 1,
      workspaceId: null,
      payload,
    })
  })
  return { answer, isNew }
}

/**
 * Chooses the packs of a tree of workspaces and whether memory accepts nothing else there. Throws
 * `not_found`, `workspace_archived`, `workspace_not_root`, `pack_version_required`, `pack_not_found`.
 */
export async function putKnowledgePacks(
  { transact, provider: configured }: Deps,
  ctx: Ctx,
  { id, packs, strict }: { id: string; packs: readonly string[]; strict: boolean },
): Promise<Record<string, unknown>> {
  const options = { provider: configured, workspaceId: id, writes: true }
  const { place, provider } = await knowledgePlace(transact, ctx, options)
  requireRoot(place)
  const unpinned = packs.filter((ref) => !PINNED.test(ref))
  if (unpinned.length > 0) {
    throw new AppError(
      'pack_version_required',
      'Cannot choose packs: each needs its version, as name@version',
      { details: { packs: unpinned } },
    )
  }
  const answer = await askKnowledge(provider, ctx, {
    route: memory.putNamespaceKinds,
    input: { params: { ns: place.namespace }, body: { packages: [...packs], strict } },
    codes: {
      invalid: 'pack_not_found',
      conflict: 'pack_version_conflict',
      missing: 'pack_not_found',
    },
  })
  await transact('read write', async (sql) => {
    await lockEntities(sql, ctx, [{ type: 'workspace', id }])
    await appendEvent(sql, ctx, {
      type: 'knowledge.packs_chosen',
      entityType: 'workspace',
      entityId: id,
      entityVersion: place.workspaceVersion,
      workspaceId: id,
      payload: { workspaceId: id, packs: [...packs], strict },
    })
  })
  return answer
}

/** The packs of the tree that a workspace is in. */
export async function getKnowledgePacks(
  { transact, provider: configured }: Deps,
  ctx: Ctx,
  id: string,
): Promise<Record<string, unknown>> {
  const options = { provider: configured, workspaceId: id, writes: false }
  const { place, provider } = await knowledgePlace(transact, ctx, options)
  return await askKnowledge(provider, ctx, {
    route: memory.getNamespaceKinds,
    input: { params: { ns: place.namespace } },
    codes: { invalid: 'not_found', conflict: 'pack_version_conflict' },
  })
}

const PINNED = /^(?:tenant:)?[a-z0-9][a-z0-9._-]{0,63}@[0-9A-Za-z][0-9A-Za-z.+-]{0,31}$/

function requirePackAdmin(ctx: Ctx, packAdmins: readonly string[]): void {
  const ids = [ctx.actorId, ctx.iam?.principalId]
  if (ids.some((id) => id !== undefined && packAdmins.includes(id))) return
  throw new AppError(
    'permission_denied',
    'Cannot register a pack for everybody: that is left to those named in CP_KNOWLEDGE_PACK_ADMINS',
  )
}

function requireRoot({ workspaceId, rootId }: KnowledgePlace): void {
  if (workspaceId === rootId) return
  throw new AppError(
    'workspace_not_root',
    `Cannot choose packs of workspace "${workspaceId}": they are chosen for its whole tree`,
    { details: { rootId } },
  )
}

function disabled(): AppError {
  return new AppError('memory_disabled', 'Cannot reach knowledge: no memory is configured')
}
