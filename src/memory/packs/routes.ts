import type { Hono } from 'hono'
import * as contract from '#contract/memory-packs.ts'
import { serve } from '#http/serve.ts'
import type { Api } from '#http/serve.ts'
import { AppError } from '#lib/errors.ts'
import { requireCore, requireService } from '../access/caller.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { requireOpen } from '../access/sight.ts'
import { serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'
import { getPack, listPacks } from './list-packs.ts'
import { getNamespaceKinds, putNamespaceKinds } from './namespace-kinds.ts'
import { registerPack } from './register-pack.ts'

/** The registry of packs, and what a namespace uses of it. */
export function bindPacks(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db, packs, settings } = parts
  const core = (ctx: MemoryCtx) => requireCore(ctx, settings.coreIdentities)
  const mayRead = async (ctx: MemoryCtx, namespace: string | undefined) => {
    core(ctx)
    if (namespace !== undefined) await requireOpen(ctx, 'read', [namespace])
  }

  serve(app, api, contract.registerPack, async (ctx, { body }) => {
    const { scope, namespace, ...manifest } = body
    core(ctx)
    requireService(ctx)
    const owner = ownerOf(scope, namespace)
    if (owner !== null) await requireOpen(ctx, 'write', [owner])
    const { pack, isNew } = await registerPack(db, { manifest, owner })
    return { status: isNew ? 201 : 200, body: { ...pack, created: isNew } }
  })

  serveMemory(app, api, contract.listPacks, async (ctx, { query }) => {
    await mayRead(ctx, query.namespace)
    return await listPacks(db, query.namespace)
  })

  serveMemory(app, api, contract.getPack, async (ctx, { params, query }) => {
    await mayRead(ctx, query.namespace)
    return await getPack(db, params.ref, query.namespace)
  })

  serveMemory(app, api, contract.putNamespaceKinds, async (ctx, { params, body }) => {
    core(ctx)
    await requireOpen(ctx, 'write', [params.ns])
    return await putNamespaceKinds(db, packs, { namespace: params.ns, settings: body })
  })

  serveMemory(app, api, contract.getNamespaceKinds, async (ctx, { params }) => {
    await mayRead(ctx, params.ns)
    return await getNamespaceKinds(db, packs, params.ns)
  })
}

function ownerOf(scope: 'shared' | 'tenant', namespace: string | undefined): string | null {
  if ((scope === 'tenant') === (namespace !== undefined)) return namespace ?? null
  const message =
    scope === 'tenant' ? "is needed for a tenant's pack" : 'is not known for a shared pack'
  throw new AppError('invalid_request', `Cannot register the pack: a namespace ${message}`, {
    details: { errors: [{ loc: 'body.namespace', message }] },
  })
}
