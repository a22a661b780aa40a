import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { eraseObservation } from '#contract/erasures.ts'
import { listEvents } from '#contract/events-api.ts'
import { getObservation, recordObservation } from '#contract/observations.ts'
import type { ErasureMode } from '#contract/memory-deletion.ts'
import { contextClient, contextTenant, providerAt } from '../../test/support/context.ts'
import { sharedDb, sharedMemoryDb } from '../../test/support/db.ts'
import { deliverTo } from '../../test/support/deliver.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { testMemory } from '../../test/support/memory.ts'
import { tablesHolding } from '../../test/support/memory-leaks.ts'
import { waitFor } from '../../test/support/wait.ts'
import { finishErasures } from './finish-erasures.ts'

const db = await sharedDb()
const memoryDb = await sharedMemoryDb()

const SECRET = { kind: 'finding', content: 'The zanzibar cache is never warm' }

/** A tenant with a real memory behind it, which has been told all that was recorded. */
async function withMemory() {
  const memory = testMemory(memoryDb)
  const provider = providerAt('http://memory', { fetch: memory.fetch })
  const { client, ctx, ...tenant } = await contextTenant(db, provider)
  const { id, eventId } = await call(client, recordObservation, {
    body: { ...SECRET, data: { note: 'zanzibar' } },
  })
  const namespace = `tenant:${ctx.tenantId}`
  const held = () => tablesHolding(memoryDb, namespace, 'zanzibar')
  return { ...tenant, client, ctx, id, eventId, memory, provider, namespace, held }
}

const erase = (client: ClientOptions, id: string, mode: ErasureMode = 'purge') =>
  send(client, eraseObservation, { params: { id }, query: { mode } })

async function erased(client: ClientOptions, id: string, mode: ErasureMode = 'purge') {
  const response = await erase(client, id, mode)
  return { status: response.status, ...eraseObservation.reply.parse(await response.json()) }
}

describe('DELETE /observations', () => {
  for (const mode of ['redact', 'purge'] as const) {
    it(`by ${mode} forgets the text here and in memory, and a rebuild does not bring it back`, async () => {
      const { client, ctx, id, memory, held } = await withMemory()
      await deliverTo(memory, db, ctx)
      assert.notDeepEqual(await held(), [])
      const { status, memoryStatus, receipt } = await erased(client, id, mode)
      assert.deepEqual([status, memoryStatus], [200, 'erased'])
      assert.equal(receipt?.removed.observations, 1)
      assert.deepEqual(await held(), [])
      const read = await call(client, getObservation, { params: { id } })
      assert.deepEqual([read.content, read.data, read.assertions], [null, null, null])
      await waitFor(async () => {
        const { items } = await call(client, listEvents, { query: { types: 'observation.' } })
        assert.doesNotMatch(JSON.stringify(items), /zanzibar/)
        return items.length === 2
      })
      await deliverTo(memory, db, ctx)
      assert.deepEqual(await held(), [])
    })
  }

  it('wins against a delivery that was on its way', async () => {
    const { client, id, eventId, memory, namespace, held } = await withMemory()
    assert.equal((await erased(client, id)).memoryStatus, 'erased')
    const late = await memory.post('/api/memory/observations', {
      ...SECRET,
      source: { system: 'control-plane', stream: 'domain-events', external_id: `event:${eventId}` },
      scope: { namespace },
    })
    assert.deepEqual([late.body.duplicate, late.body.status], [true, 'redacted'])
    assert.deepEqual(await held(), [])
  })

  it('is finished later when memory does not answer, or nobody is left to ask it', async (t) => {
    const { key, client, ctx, id, memory, provider, held } = await withMemory()
    await deliverTo(memory, db, ctx)
    const dead = await fakeServer(t, (_, response) => reply(response, 503, {}))
    const { status, memoryStatus } = await erased(contextClient(db, key, providerAt(dead.url)), id)
    assert.deepEqual([status, memoryStatus], [202, 'pending'])
    assert.equal((await call(client, getObservation, { params: { id } })).content, null)
    assert.notDeepEqual(await held(), [])
    await db`
      update observation_erasures
      set next_attempt_at = now()
      where tenant_id = ${ctx.tenantId}`
    await waitFor(async () => {
      await finishErasures(db, provider, new AbortController().signal)
      return (await held()).length === 0
    })
    const again = await erased(client, id)
    assert.deepEqual([again.status, again.memoryStatus], [200, 'erased'])
  })

  it('is the same when repeated, and a purge goes further than a redaction', async () => {
    const { client, id } = await withMemory()
    const first = await erased(client, id, 'redact')
    assert.deepEqual(await erased(client, id, 'redact'), first)
    const purged = await erased(client, id, 'purge')
    assert.equal(purged.mode, 'purge')
    assert.deepEqual(await erased(client, id, 'redact'), purged)
  })

  it('is for its author and for who manages operations, and shows others nothing', async () => {
    const { client, caller, provider } = await withMemory()
    const as = async (...permissions: Parameters<typeof caller>[0]) =>
      contextClient(db, (await caller(permissions)).key, provider)
    const author = await as('observations.write')
    const record = async (more: object = {}) =>
      (await call(author, recordObservation, { body: { ...SECRET, ...more } })).id
    const [own, shared] = [await record(), await record()]
    const hidden = await record({ data: { visibility: 'private' } })
    const reader = await as('events.read')
    const manager = await as('operations.manage')
    assert.equal((await erase(reader, shared)).status, 403)
    assert.equal((await erase(reader, hidden)).status, 404)
    assert.equal((await erase(await as('tasks.read'), shared)).status, 404)
    assert.equal((await erase(author, own)).status, 200)
    assert.equal((await erase(manager, shared)).status, 200)
    assert.equal((await erase(manager, hidden)).status, 200)
    assert.equal((await erase(client, '00000000-0000-4000-8000-000000000000')).status, 404)
  })

  it('works without a memory, which is told once there is one', async () => {
    const { client, key, id } = await withMemory()
    const { status, memoryStatus } = await erased(contextClient(db, key), id)
    assert.deepEqual([status, memoryStatus], [200, 'none'])
    assert.equal((await erased(client, id)).memoryStatus, 'erased')
  })
})
