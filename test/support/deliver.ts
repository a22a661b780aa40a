import assert from 'node:assert/strict'
import { toObservation } from '#adapter/mapping.ts'
import { selectRecordedContents } from '#adapter/content.sql.ts'
import type { Database } from '#db/sql.ts'
import { ORIGIN } from '#events/cursor.ts'
import { horizonLagSeconds, readEvents } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { TestMemory } from './memory.ts'
import { waitFor } from './wait.ts'

/**
 * Tells memory the whole journal of a tenant in one go, translated as the adapter does; for tests of
 * what is recalled, not of how it is delivered.
 */
export async function deliverTo(memory: TestMemory, db: Database, ctx: Ctx): Promise<void> {
  await waitFor(async () => (await horizonLagSeconds(db, ctx)) === 0)
  const { events, hasMore } = await readEvents(db, ctx, { after: ORIGIN, limit: 500 })
  assert.ok(!hasMore)
  const contents = await selectRecordedContents(
    db,
    ctx.tenantId,
    events.map(({ id }) => id),
  )
  const observations = events.flatMap((event) => toObservation(event, contents.get(event.id)) ?? [])
  const scope = { namespace: `tenant:${ctx.tenantId}` }
  const answer = await memory.post('/api/memory/observations:batch', { scope, observations })
  assert.equal(answer.status, 207, JSON.stringify(answer.body))
  assert.equal(answer.body.failed, 0, JSON.stringify(answer.body))
}
