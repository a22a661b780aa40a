import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import * as operations from '#contract/journal-operations.ts'
import { createTask } from '#contract/tasks.ts'
import * as contract from '#contract/webhooks.ts'
import { CONTEXT_ADAPTER, insertMissingConsumers } from '#events/consumers.ts'
import { comparePositions, decodeCursor } from '#events/cursor.ts'
import { waitFor } from '../../test/support/wait.ts'
import { addWebhook, receiver, webhookStage } from '../../test/support/webhooks.ts'

const stage = await webhookStage({ after })
const { db, newTenant } = stage

const workers: ReturnType<typeof stage.start>[] = []

const TASKS = { filter: { types: ['task.'] } }

async function addTasks(client: ClientOptions, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    await call(client, createTask, { body: { title: `task ${n}` } })
  }
}

const titlesTo = (count: number) => Array.from({ length: count }, (_, n) => `task ${n + 1}`)
const show = (client: ClientOptions, id: string) =>
  call(client, contract.getWebhook, { params: { id } })

/** Before any worker runs here. */
describe('retention', () => {
  const body = { reason: 'test', maxEvents: 1000, withoutConsumer: true }

  it('keeps what a webhook has not been told, until it is paused; what is gone then it is told of', async () => {
    const { client } = await newTenant()
    const { id } = await addWebhook(client, 'http://127.0.0.1:9/', TASKS)
    await addTasks(client, 2)
    await waitFor(async () => {
      const { items } = await call(client, listEvents, { query: { types: 'task.' } })
      return items.length === 2
    })
    await call(client, operations.archiveJournal, { body })
    await assert.rejects(call(client, operations.archiveJournal, { body }), (error: never) => {
      const { code, details } = error as { code: string; details: { consumer?: string } }
      return code === 'retention_blocked_by_consumer' && details.consumer === `webhook:${id}`
    })
    const params = { id }
    const paused = await call(client, contract.pauseWebhook, { params, body: { reason: 'moving' } })
    assert.deepEqual([paused.status, paused.pauseReason], ['paused', 'moving'])
    await waitFor(async () => {
      await call(client, operations.archiveJournal, { body })
      const { archiveFloorCursor } = await call(client, operations.pruneJournal, { body })
      const floor = decodeCursor(archiveFloorCursor ?? paused.cursor)
      return comparePositions(floor, decodeCursor(paused.cursor)) > 0
    })
    const refusal = { code: 'cursor_below_journal_floor' }
    await assert.rejects(call(client, contract.resumeWebhook, { params }), refusal)
    const { archiveFloorCursor } = await call(client, operations.getJournalStatus)
    const floor = archiveFloorCursor ?? ''
    const resumed = await call(client, contract.resumeWebhook, { params, body: { after: floor } })
    assert.deepEqual([resumed.status, resumed.cursor], ['active', floor])
    await call(client, contract.deleteWebhook, { params })
  })

  it('waits for memory all the same, which no webhook stands for', async () => {
    const { client } = await newTenant()
    const { id } = await addWebhook(client, 'http://127.0.0.1:9/', TASKS)
    const move = { body: { ...body, withoutConsumer: false } }
    const refusal = { code: 'retention_blocked_by_consumer' }
    await assert.rejects(call(client, operations.archiveJournal, move), refusal)
    await insertMissingConsumers(db, CONTEXT_ADAPTER)
    await assert.rejects(call(client, operations.archiveJournal, move), refusal)
    await call(client, contract.deleteWebhook, { params: { id } })
  })
})

describe('several workers', () => {
  it('tell each receiver every event once, in order, and never two at a time', async (t) => {
    const { client } = await newTenant()
    const ears = await Promise.all(Array.from({ length: 5 }, () => receiver(t)))
    for (const { url } of ears) await addWebhook(client, url, TASKS)
    for (let n = 0; n < 3; n += 1) workers.push(stage.start({ batch: 4 }))
    await addTasks(client, 25)
    await waitFor(() => ears.every(({ told }) => told.length >= 25))
    for (const { told, atOnce } of ears) {
      assert.deepEqual(
        told.map(({ payload }) => payload['title']),
        titlesTo(25),
      )
      assert.equal(atOnce(), 1)
    }
  })

  it('refuse what one of them writes after its lease has gone to another', async (t) => {
    const { client, tenant } = await newTenant()
    let hold = Promise.withResolvers<void>()
    const first = hold
    const ears = await receiver(t, async (_, response) => {
      const waiting = hold
      hold = Promise.withResolvers()
      hold.resolve()
      await waiting.promise
      response.writeHead(200).end()
    })
    const { id } = await addWebhook(client, ears.url, TASKS)
    await addTasks(client, 2)
    await waitFor(() => ears.told.length === 1)
    await db`
      update event_consumer_cursors
      set leased_until = clock_timestamp()
      where tenant_id = ${tenant.ctx.tenantId}
        and name = ${`webhook:${id}`}`
    await waitFor(() => ears.told.length === 3)
    first.resolve()
    assert.deepEqual(
      ears.told.map(({ payload }) => payload['title']),
      ['task 1', 'task 1', 'task 2'],
    )
    const { items } = await call(client, contract.listWebhookDeliveries, { params: { id } })
    assert.ok(items.length <= 2 && items.every(({ outcome }) => outcome === 'delivered'))
  })

  it('take the removal of a webhook while it is served for the end of the turn', async (t) => {
    const { client } = await newTenant()
    const held = Promise.withResolvers<void>()
    const ears = await receiver(t, async (_, response) => {
      await held.promise
      response.writeHead(410).end()
    })
    const { id } = await addWebhook(client, ears.url, TASKS)
    await addTasks(client, 1)
    await waitFor(() => ears.told.length === 1)
    await call(client, contract.deleteWebhook, { params: { id } })
    const turns = () => workers.flatMap((one) => one.turns)
    const before = turns().length
    held.resolve()
    await waitFor(() => turns().length > before)
    assert.deepEqual(
      workers.flatMap((one) => one.errors),
      [],
    )
  })

  it('send nothing from a place that a restored journal does not have', async (t) => {
    const { client, tenant } = await newTenant()
    const ears = await receiver(t)
    const { id } = await addWebhook(client, ears.url, TASKS)
    await db`
      update event_consumer_cursors
      set tx_id = (tx_id::text::bigint - 1)::text::xid8, sequence = sequence + 1000
      where tenant_id = ${tenant.ctx.tenantId}
        and name = ${`webhook:${id}`}`
    await addTasks(client, 1)
    await waitFor(async () => (await show(client, id)).status === 'paused')
    assert.equal((await show(client, id)).pauseReason, 'restore_detected')
    assert.deepEqual(ears.told, [])
  })
})
