import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import type { NewEvent } from '#contract/events.ts'
import { appendEvents } from '#events/append.ts'
import { rewindConsumer, selectConsumer } from '#events/consumers.ts'
import type { Fence } from '#events/consumers.ts'
import { encodeCursor, ORIGIN } from '#events/cursor.ts'
import { currentPosition, readEvents } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { deliverTenant } from './deliver-tenant.ts'
import type { Delivery } from './deliver-tenant.ts'
import type { Batch, Sink, SinkResult } from './sink.ts'

const db = await sharedDb()

/** A tenant whose journal holds `count` renamings, and a consumer of its own at their start. */
async function journal(count: number) {
  const { ctx } = await testTenant(db)
  const id = newId()
  const events = Array.from({ length: count }, (_, index) => renamed(id, index + 1))
  const start = await settled(ctx)
  await db.begin((sql) => appendEvents(sql, ctx, events))
  await settled(ctx, count, start)
  const fence = await consumer(ctx, start)
  const { events: stored } = await readEvents(db, ctx, { after: start, limit: 200 })
  return { ctx, fence, stored }
}

function renamed(entityId: string, entityVersion: number): NewEvent {
  return {
    type: 'workspace.updated',
    payload: { changes: ['name'], version: entityVersion },
    entityType: 'workspace',
    entityId,
    entityVersion,
    workspaceId: entityId,
  }
}

/** Waits until at least `count` events after a position are readable, and answers the last one's place. */
async function settled(ctx: Ctx, count = 1, after = ORIGIN) {
  const until = AbortSignal.timeout(30_000)
  for (;;) {
    const page = await readEvents(db, ctx, { after, limit: 200 })
    if (page.events.length >= count) return await currentPosition(db, ctx)
    until.throwIfAborted()
  }
}

async function consumer(ctx: Ctx, from: Fence['from']): Promise<Fence> {
  const name = `test-${newId()}`
  await db`
    insert into event_consumer_leaders (name, shard, shards, leader_epoch)
    values (${name}, 0, 1, 1)`
  await db`
    insert into event_consumer_cursors (name, tenant_id, journal_epoch, tx_id, sequence)
    values (${name}, ${ctx.tenantId}, ${from.journalEpoch}, ${from.txId}::xid8, ${from.sequence})`
  return { name, shard: 0, leaderEpoch: '1', tenantId: ctx.tenantId, from }
}

function delivery(sink: Sink): Delivery {
  return {
    db,
    sink,
    pageSize: 100,
    maxBytes: 1_000_000,
    backoffSeconds: () => 60,
    signal: AbortSignal.timeout(30_000),
  }
}

const confirm: Sink = () => Promise.resolve({ kind: 'confirmed', duplicates: 0 })

const unreachable: Sink = () => Promise.reject(new Error('must not be called'))

function answer(result: SinkResult): Sink {
  return () => Promise.resolve(result)
}

async function cursorOf({ name, tenantId }: Fence): Promise<string> {
  const row = await selectConsumer(db, name, tenantId)
  return encodeCursor(row?.position ?? ORIGIN)
}

describe('deliverTenant', () => {
  it('moves the cursor over what memory confirmed', async () => {
    const { fence, stored } = await journal(3)
    const sent: Batch[] = []
    const turn = await deliverTenant(
      delivery((batch, signal) => {
        sent.push(batch)
        return confirm(batch, signal)
      }),
      fence,
      0,
    )

    assert.deepEqual(turn, { kind: 'moved', delivered: 3, duplicates: 0, hasMore: false })
    assert.equal(await cursorOf(fence), stored.at(-1)?.cursor)
    assert.deepEqual(
      sent.flatMap((batch) => batch.observations.map((one) => one.source.external_id)),
      stored.map((event) => `event:${event.id}`),
    )
  })

  it('leaves the cursor where it was while memory is in trouble, and waits before it retries', async () => {
    const { fence } = await journal(2)
    const before = await cursorOf(fence)
    const trouble = answer({ kind: 'transient', reason: 'down', retryAfterSeconds: 120 })
    assert.equal((await deliverTenant(delivery(trouble), fence, 0)).kind, 'failed')

    const row = await selectConsumer(db, fence.name, fence.tenantId)
    assert.equal(await cursorOf(fence), before)
    assert.equal(row?.status, 'retrying')
    assert.equal(row?.parkedEventId, null)
    const waitMs = (row?.nextAttemptAt?.getTime() ?? 0) - Date.now()
    assert.ok(waitMs > 110_000, `waits ${waitMs} ms although memory asked for 120 s`)
  })

  it('keeps what stands before a rejected item and parks on exactly that event', async () => {
    const { fence, stored } = await journal(4)
    const rejected = answer({ kind: 'rejected', index: 2, reason: 'bad kind', duplicates: 0 })
    assert.equal((await deliverTenant(delivery(rejected), fence, 0)).kind, 'failed')

    const row = await selectConsumer(db, fence.name, fence.tenantId)
    assert.equal(await cursorOf(fence), stored[1]?.cursor)
    assert.equal(row?.status, 'parked')
    assert.equal(row?.parkedEventId, stored[2]?.id)
    assert.equal(row?.reason, 'bad kind')
  })

  for (const culprit of [0, 1, 4, 7]) {
    it(`finds item ${culprit} when memory refuses any batch that holds it`, async () => {
      const { fence, stored } = await journal(8)
      const bad = `event:${stored[culprit]?.id}`
      const picky: Sink = (batch) =>
        Promise.resolve(
          batch.observations.some((one) => one.source.external_id === bad)
            ? { kind: 'refused', reason: 'invalid' }
            : { kind: 'confirmed', duplicates: 0 },
        )
      await deliverTenant(delivery(picky), fence, 0)

      const row = await selectConsumer(db, fence.name, fence.tenantId)
      const before = culprit === 0 ? encodeCursor(fence.from) : stored[culprit - 1]?.cursor
      assert.equal(await cursorOf(fence), before)
      assert.equal(row?.parkedEventId, stored[culprit]?.id)
    })
  }

  it('changes nothing of a tenant when the credential of the consumer is refused', async () => {
    const { fence } = await journal(1)
    const turn = await deliverTenant(
      delivery(answer({ kind: 'unauthorised', reason: '401' })),
      fence,
      0,
    )
    const row = await selectConsumer(db, fence.name, fence.tenantId)
    assert.equal(turn.kind, 'unauthorised')
    assert.deepEqual([row?.status, row?.failureCount], ['ok', 0])
  })

  it('commits nothing once another leader has taken over', async () => {
    const { fence } = await journal(1)
    const before = await cursorOf(fence)
    const overtaken: Sink = async (batch, signal) => {
      await db`
        update event_consumer_leaders set leader_epoch = 2
        where name = ${fence.name}`
      return await confirm(batch, signal)
    }
    assert.equal((await deliverTenant(delivery(overtaken), fence, 0)).kind, 'fenced')
    assert.equal(await cursorOf(fence), before)
  })

  it('does not undo a rebuild that an operator ordered meanwhile', async () => {
    const { fence } = await journal(1)
    const rebuilt: Sink = async (batch, signal) => {
      await rewindConsumer(db, fence.name, { tenantId: fence.tenantId })
      return await confirm(batch, signal)
    }
    assert.equal((await deliverTenant(delivery(rebuilt), fence, 0)).kind, 'fenced')
    assert.equal(await cursorOf(fence), encodeCursor(ORIGIN))
    const row = await selectConsumer(db, fence.name, fence.tenantId)
    assert.equal(row?.metadata.staleCommitsTotal, 1)
  })

  it('passes noise without a call', async () => {
    const { ctx, fence } = await journal(0)
    const noise: NewEvent = {
      type: 'api_key.revoked',
      payload: { principalId: newId(), prefix: 'abc' },
      entityType: 'api_key',
      entityId: newId(),
      entityVersion: 1,
      workspaceId: null,
    }
    await db.begin((sql) => appendEvents(sql, ctx, [noise]))
    const end = await settled(ctx, 1, fence.from)
    const turn = await deliverTenant(delivery(unreachable), fence, 0)
    assert.deepEqual(turn, { kind: 'moved', delivered: 0, duplicates: 0, hasMore: false })
    assert.equal(await cursorOf(fence), encodeCursor(end))
  })
})
