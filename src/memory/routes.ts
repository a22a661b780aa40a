import type { Hono } from 'hono'
import { health, listStreams, recordObservation, recordObservations } from '#contract/memory.ts'
import { getStats } from '#contract/memory-stats.ts'
import type { BatchResult, Recorded } from '#contract/memory.ts'
import { AppError } from '#lib/errors.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from './access/caller.ts'
import { requireOpen } from './access/sight.ts'
import { writeTarget } from './access/target.ts'
import { withCatalog } from './packs/with-catalog.ts'
import { readStats } from './read-stats.ts'
import { recordObservations as record } from './record-observations.ts'
import { serveMemory } from './serve-memory.ts'
import type { MemoryParts } from './serve-memory.ts'
import { selectTotals } from './store/namespace.sql.ts'
import { selectInstanceId, selectStreams } from './store/stream.sql.ts'

/** Name of the graph on the health page; ours is kept in ordinary tables. */
const GRAPH = 'company_brain'

export function bindMemory(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db, settings, meter } = parts
  const { defaultNamespace, observationsMaxBatch } = settings

  serveMemory(app, api, health, async () => {
    return { ok: true, graph: GRAPH, ...(await selectTotals(db)) }
  })

  serveMemory(app, api, getStats, async (ctx) => {
    const budgetBytes = settings.indexMemoryMb * 1_048_576
    return await readStats(db, ctx, { indexes: parts.indexes, budgetBytes })
  })

  serveMemory(app, api, recordObservation, async (ctx, { body }) => {
    const { namespace: _, scope: __, allowed_scopes: ___, ...observation } = body
    const target = await writeTarget(ctx, defaultNamespace, body)
    const [result] = await withCatalog(parts, ctx, target.namespace, (catalog) =>
      record(db, { ...target, catalog, observations: [observation] }),
    )
    meter?.recorded(result ? [result] : [])
    return single(result)
  })

  serveMemory(app, api, recordObservations, async (ctx, { body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const { observations, stream_position: position } = body
    if (observations.length > observationsMaxBatch) throw tooMany(observationsMaxBatch)
    const results = await withCatalog(parts, ctx, target.namespace, (catalog) =>
      record(db, { ...target, catalog, observations, position }),
    )
    meter?.recorded(results)
    const failed = results.filter((result) => 'error' in result).length
    const duplicates = results.filter((result) => 'duplicate' in result && result.duplicate).length
    return { results, accepted: results.length - failed - duplicates, duplicates, failed }
  })

  serveMemory(app, api, listStreams, async (ctx, { query }) => {
    const namespace = query.namespace ?? defaultNamespace
    await requireOpen(ctx, 'read', [namespace])
    const streams = await selectStreams(db, namespace)
    return {
      instance_id: await selectInstanceId(db),
      streams: streams.map(({ system, stream, e, t, s, received }) => ({
        system,
        stream,
        position: { e, t, s },
        received,
      })),
    }
  })
}

function single(result: BatchResult | undefined): Recorded {
  if (!result) throw new Error('An observation was recorded without a result')
  if ('error' in result) {
    const { status, detail } = result.error
    const errors = result.error.errors?.map((one) => ({ ...one, loc: `body.${one.loc}` }))
    const code = status === 403 ? 'permission_denied' : 'invalid_request'
    throw new AppError(code, detail, { details: errors ? { errors } : {} })
  }
  const { index: _, ...recorded } = result
  return recorded
}

function tooMany(limit: number): AppError {
  return new AppError(
    'request_too_large',
    `Cannot record the batch: it holds more than ${limit} observations`,
    { details: { maxObservations: limit } },
  )
}
