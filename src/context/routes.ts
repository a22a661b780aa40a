import type { Hono } from 'hono'
import * as contract from '#contract/context.ts'
import * as erasures from '#contract/erasures.ts'
import * as knowledgeContract from '#contract/knowledge.ts'
import * as packsContract from '#contract/knowledge-packs.ts'
import type { Observation } from '#contract/observations.ts'
import * as observationsContract from '#contract/observations.ts'
import { getRunContext } from '#contract/run-context.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import { bind, bindOutside, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { eraseObservation } from './erase-observation.ts'
import { getContext } from './get-context.ts'
import type { ContextMetrics } from './get-context.ts'
import { harnessContext } from './harness-context.ts'
import { selectObservation } from './observation.sql.ts'
import { getKnowledgePacks, putKnowledgePacks, registerKnowledgePack } from './knowledge-packs.ts'
import { queryEntities } from './query-entities.ts'
import type { MemoryProvider } from './recall.ts'
import { previewSnapshot, reconcileSnapshot } from './reconcile-snapshot.ts'
import { recordObservation } from './record-observation.ts'
import { runContext } from './run-context.ts'
import { deleteDocument, storeDocument } from './store-document.ts'

export interface ContextOptions {
  /** The memory service; null where none is configured. */
  provider: MemoryProvider | null
  metrics: ContextMetrics
  /** Who may register packs for everybody. */
  packAdmins?: readonly string[]
}

/** A pending idempotency record outlives the longest call to memory by this much. */
const LEASE_MARGIN_SECONDS = 30

export function contextRoutes(app: Hono, deps: Deps, options: ContextOptions): void {
  const { provider, metrics } = options
  const outside = {
    ...deps,
    leaseSeconds: (provider?.reconcileTimeoutSeconds ?? 0) + LEASE_MARGIN_SECONDS,
  }

  bind(app, deps, contract.getHarnessContext, async (sql, ctx, { query: { sessionId } }) => {
    const eventCursor = encodeCursor(await currentPosition(sql, ctx))
    return await harnessContext(sql, ctx, { sessionId, eventCursor })
  })

  bindOutside(app, outside, contract.getContext, async (transact, ctx, { body }) =>
    getContext({ transact, provider, metrics }, ctx, body),
  )

  bindOutside(app, outside, getRunContext, async (transact, ctx, { params: { id } }) =>
    transact('snapshot', (sql) => runContext(sql, ctx, id)),
  )

  bindObservations(app, deps)
  bindPacks(app, outside, options)

  bindOutside(
    app,
    outside,
    erasures.eraseObservation,
    async (transact, ctx, { params: { id }, query }) => {
      const erased = await eraseObservation({ transact, provider }, ctx, { id, mode: query.mode })
      return withStatus(erased.memoryStatus === 'pending' ? 202 : 200, erased)
    },
  )

  bindOutside(app, outside, knowledgeContract.reconcileSnapshot, async (transact, ctx, { body }) =>
    reconcileSnapshot({ transact, provider }, ctx, body),
  )

  bindOutside(app, outside, knowledgeContract.previewSnapshot, async (transact, ctx, { body }) =>
    previewSnapshot({ transact, provider }, ctx, body),
  )

  bindOutside(app, outside, knowledgeContract.storeDocument, async (transact, ctx, { body }) =>
    storeDocument({ transact, provider }, ctx, body),
  )

  bindOutside(app, outside, knowledgeContract.deleteDocument, async (transact, ctx, { body }) =>
    deleteDocument({ transact, provider }, ctx, body),
  )

  bindOutside(app, outside, knowledgeContract.queryEntities, async (transact, ctx, { body }) =>
    queryEntities({ transact, provider }, ctx, body),
  )
}

type Outside = Deps & { leaseSeconds: number }

function bindPacks(app: Hono, outside: Outside, { provider, packAdmins = [] }: ContextOptions) {
  bindOutside(
    app,
    outside,
    packsContract.registerKnowledgePack,
    async (transact, ctx, { body }) => {
      const registered = await registerKnowledgePack({ transact, provider, packAdmins }, ctx, body)
      return withStatus(registered.isNew ? 201 : 200, registered.answer)
    },
  )

  bindOutside(app, outside, packsContract.putKnowledgePacks, async (transact, ctx, input) =>
    putKnowledgePacks({ transact, provider, packAdmins }, ctx, { ...input.params, ...input.body }),
  )

  bindOutside(app, outside, packsContract.getKnowledgePacks, async (transact, ctx, { params }) =>
    getKnowledgePacks({ transact, provider, packAdmins }, ctx, params.id),
  )
}

function bindObservations(app: Hono, deps: Deps): void {
  bind(app, deps, observationsContract.recordObservation, async (sql, ctx, { body }) => {
    const recorded = await recordObservation(sql, ctx, body)
    return withStatus(recorded.deduplicated ? 200 : 201, recorded)
  })

  bind(app, deps, observationsContract.getObservation, async (sql, ctx, { params: { id } }) => {
    const row = found(await selectObservation(sql, ctx, id), 'observation', id)
    const { contentFingerprint: _, observedAt, recordedAt, ...rest } = row
    const moments = { observedAt: observedAt.toISOString(), recordedAt: recordedAt.toISOString() }
    return { ...rest, ...moments } satisfies Observation
  })
}
