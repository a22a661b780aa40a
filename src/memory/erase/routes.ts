import type { Hono } from 'hono'
import { eraseObservation } from '#contract/memory-deletion.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { writeTarget } from '../access/target.ts'
import { inTurn, serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'
import { eraseObservation as erase } from './erase-observation.ts'

/** What takes knowledge out of memory for good. */
export function bindErasure(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db, settings, writers } = parts

  serveMemory(app, api, eraseObservation, async (ctx, { params: { id }, query }) => {
    const target = await writeTarget(ctx, settings.defaultNamespace, {}, query)
    const { mode, ahead } = query
    const erasure = { ...target, observationId: id, mode, ahead: ahead === 'true' }
    return await inTurn(writers, ctx, target.namespace, () => erase(db, ctx, erasure))
  })
}
