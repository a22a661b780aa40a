import type { Hono } from 'hono'
import * as contract from '#contract/context.ts'
import * as eventsContract from '#contract/events-api.ts'
import type { Observation } from '#contract/observations.ts'
import * as observationsContract from '#contract/observations.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { harnessContext } from './harness-context.ts'
import { listEvents } from './list-events.ts'
import { selectObservation } from './observation.sql.ts'
import { recordObservation } from './record-observation.ts'

export function contextRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, eventsContract.listEvents, async (sql, ctx, { query }) =>
    listEvents(sql, ctx, query),
  )

  bind(app, deps, contract.getHarnessContext, async (sql, ctx, { query: { sessionId } }) => {
    const eventCursor = encodeCursor(await currentPosition(sql, ctx))
    return await harnessContext(sql, ctx, { sessionId, eventCursor })
  })

  bindObservations(app, deps)
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
