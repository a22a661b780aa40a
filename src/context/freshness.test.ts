import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { CONTEXT_ADAPTER } from '#events/consumers.ts'
import { encodeCursor, ORIGIN } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { currentPosition, horizonLagSeconds, readEvents } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { addWorkspace } from '../../test/support/context.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { ownDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { readFreshness } from './freshness.ts'

describe('freshness', () => {
  it('counts what memory has not been told, in events and in seconds', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const ctx = await testCtx(db)
    await settled(db, ctx)
    const { events } = await readEvents(db, ctx, { after: ORIGIN, limit: 200 })
    const told = await currentPosition(db, ctx)
    await deliver(db, ctx, told)
    const fresh = await read(db, ctx)
    assert.equal(fresh.memoryLagEvents, 0)
    assert.equal(fresh.memoryLagSeconds, 0)
    assert.equal(fresh.memoryCursor, encodeCursor(told))
    assert.deepEqual(fresh.memoryIngest, {
      status: 'ok',
      lastError: null,
      lastDeliveryAt: '2026-01-01T00:00:00.000Z',
      parkedEventId: null,
      nextAttemptAt: null,
    })
    await addWorkspace(db, ctx)
    await addWorkspace(db, ctx)
    await settled(db, ctx)
    const behind = await read(db, { ...ctx, now: () => new Date(Date.now() + 60_000) })
    assert.equal(behind.memoryLagEvents, 2)
    assert.equal(behind.memoryLagCapped, false)
    assert.ok((behind.memoryLagSeconds ?? 0) >= 60 && (behind.memoryLagSeconds ?? 0) < 90)
    await deliver(db, ctx, ORIGIN)
    assert.equal((await read(db, ctx)).memoryLagEvents, events.length + 2)
  })

  it('stops counting at a thousand', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const ctx = await testCtx(db)
    await settled(db, ctx)
    await deliver(db, ctx, await currentPosition(db, ctx))
    for (const [count, capped] of [
      [1000, false],
      [1, true],
    ] as const) {
      await flood(db, ctx, count)
      await settled(db, ctx)
      const { memoryLagEvents, memoryLagCapped } = await read(db, ctx)
      assert.deepEqual(
        { memoryLagEvents, memoryLagCapped },
        { memoryLagEvents: 1000, memoryLagCapped: capped },
      )
    }
  })

  it('says why delivery is stuck, and names the event only when one is to blame', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const ctx = await testCtx(db)
    await deliver(db, ctx, ORIGIN)
    const eventId = '00000000-0000-7000-8000-000000000001'
    for (const status of ['retrying', 'parked'] as const) {
      await db`
        update event_consumer_cursors
        set status = ${status}, reason = 'because', parked_event_id = ${eventId},
            next_attempt_at = '2026-01-01T00:00:01Z'
        where tenant_id = ${ctx.tenantId}`
      const { memoryIngest } = await read(db, ctx)
      assert.deepEqual(memoryIngest, {
        status,
        lastError: 'because',
        lastDeliveryAt: '2026-01-01T00:00:00.000Z',
        parkedEventId: status === 'parked' ? eventId : null,
        nextAttemptAt: '2026-01-01T00:00:01.000Z',
      })
    }
  })

  it('is silent about memory while nothing delivers to it', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const { memoryCursor, memoryLagEvents, memoryIngest } = await read(db, await testCtx(db))
    assert.deepEqual([memoryCursor, memoryLagEvents, memoryIngest], [null, null, null])
  })

  it('shows for how long an open transaction has held events back, and counts them', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const ctx = await testCtx(db)
    await settled(db, ctx)
    await deliver(db, ctx, await currentPosition(db, ctx))
    const writer = await db.reserve()
    await writer`begin`
    await writer`select pg_current_xact_id()`
    try {
      await addWorkspace(db, ctx)
      const { horizonLagSeconds: heldBack, memoryLagEvents } = await read(db, ctx)
      assert.ok((heldBack ?? 0) > 0)
      assert.equal(memoryLagEvents, 1)
    } finally {
      await writer`rollback`
      writer.release()
    }
    await settled(db, ctx)
    assert.equal((await read(db, ctx)).horizonLagSeconds, 0)
  })
})

function read(db: Database, ctx: Ctx) {
  return transaction(db, 'snapshot', async (sql) =>
    readFreshness(sql, ctx, encodeCursor(await currentPosition(sql, ctx))),
  )
}

/** Other tests on the same server hold the journal back for a moment. */
async function settled(db: Database, ctx: Ctx): Promise<void> {
  await waitFor(async () => (await horizonLagSeconds(db, ctx)) === 0)
}

/** Puts the cursor of delivery where a delivery would have left it. */
async function deliver(db: Database, ctx: Ctx, to: Position): Promise<void> {
  const metadata = { lastDeliveryAt: '2026-01-01T00:00:00.000Z' }
  await db`
    insert into event_consumer_cursors
      (name, tenant_id, journal_epoch, tx_id, sequence, metadata)
    values
      (${CONTEXT_ADAPTER}, ${ctx.tenantId}, ${to.journalEpoch}, ${to.txId}::xid8, ${to.sequence},
       ${db.json(metadata)})
    on conflict (name, tenant_id) do update
    set journal_epoch = excluded.journal_epoch, tx_id = excluded.tx_id,
        sequence = excluded.sequence`
}

async function flood(db: Database, ctx: Ctx, count: number): Promise<void> {
  await db`
    insert into events
      (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, payload)
    select ${ctx.tenantId}, 1, gen_random_uuid(), 'session.closed', 'session', 'flood', 1, '{}'
    from generate_series(1, ${count})`
}
