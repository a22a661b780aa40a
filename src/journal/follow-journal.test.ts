import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import type { TransportName } from '#client/event-transports.ts'
import { streamEvents, streamEventsBySocket } from '#contract/event-stream.ts'
import { listEvents } from '#contract/events-api.ts'
import type { JournalEvent } from '#contract/events.ts'
import * as operations from '#contract/journal-operations.ts'
import { updatePrincipal } from '#contract/org.ts'
import { createTask } from '#contract/tasks.ts'
import { decodeCursor, encodeCursor } from '#events/cursor.ts'
import { createPlaces } from '#http/places.ts'
import { newId } from '#lib/id.ts'
import { addWorkspace } from '../../test/support/context.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { testStreams } from '../../test/support/streams.ts'
import { wholeApp } from '../../test/support/whole.ts'
import { read, streamServer } from '../../test/support/stream-server.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()

const LIVE = ['sse', 'websocket'] as const satisfies readonly TransportName[]

async function addTask(client: ClientOptions, workspaceId?: string): Promise<void> {
  const place = workspaceId === undefined ? {} : { workspaceId }
  await call(client, createTask, { body: { title: 'Another one', ...place } })
}

async function history(client: ClientOptions, atLeast: number) {
  let items: JournalEvent[] = []
  await waitFor(async () => {
    ;({ items } = await call(client, listEvents, { query: { limit: '200' } }))
    return items.length >= atLeast
  })
  return items
}

for (const name of LIVE) {
  describe(`a stream over ${name}`, () => {
    it('says what was, then what happens, and goes on from any cursor', async (t) => {
      const server = await streamServer(t, db)
      const client = server.client((await testTenant(db)).key)
      await addTask(client)
      const before = await history(client, 4)
      const reading = read(t, client, name)
      for (const { id } of before) assert.equal(await reading.nextEvent(), id)
      await addTask(client)
      const created = await reading.nextEvent()
      const all = await history(client, before.length + 1)
      assert.equal(created, all[before.length]?.id)
      const again = read(t, client, name, { after: before[1]?.cursor ?? '' })
      for (const { id } of all.slice(2)) assert.equal(await again.nextEvent(), id)
    })

    it('begins with the last events, or with what happens from now on', async (t) => {
      const server = await streamServer(t, db)
      const client = server.client((await testTenant(db)).key)
      const before = await history(client, 3)
      const last = read(t, client, name, { tail: '2', closeAfterSeconds: '0' })
      const said = (await last.rest()).map((one) =>
        one.type === 'event' ? one.event.id : one.type,
      )
      assert.deepEqual(said, [...before.slice(-2).map(({ id }) => id), 'end'])
      const fresh = read(t, client, name, { tail: '0' })
      assert.deepEqual(await fresh.next(), { type: 'position', cursor: before.at(-1)?.cursor })
      await addTask(client)
      const [created] = (await history(client, before.length + 1)).slice(before.length)
      assert.equal(await fresh.nextEvent(), created?.id)
    })

    it('leaves out what the filter does not name, and tells how far it has come', async (t) => {
      const server = await streamServer(t, db, { beatSeconds: 0.1 })
      const tenant = await testTenant(db)
      const client = server.client(tenant.key)
      const workspaceId = await addWorkspace(db, tenant.ctx)
      const reading = read(t, client, name, { workspaceId, types: 'task.' })
      await reading.next()
      await addTask(client)
      const head = (await history(client, 5)).at(-1)?.cursor
      let place: string | null | undefined
      while (place !== head) {
        const message = await reading.next()
        assert.equal(message?.type, 'position')
        place = message.cursor
      }
      await addTask(client, workspaceId)
      const [created] = (await history(client, 6)).slice(-1)
      assert.equal(await reading.nextEvent(), created?.id)
    })

    it('ends when the program stops, with the cursor to come again', async (t) => {
      const server = await streamServer(t, db)
      const client = server.client((await testTenant(db)).key)
      const cursor = (await history(client, 3)).at(-1)?.cursor ?? ''
      const open = read(t, client, name, { after: cursor })
      await open.next()
      await server.stop()
      assert.deepEqual(await open.rest(), [{ type: 'end', reason: 'shutdown', cursor }])
    })

    it('ends when its reader may not read any more, before another event is said', async (t) => {
      const server = await streamServer(t, db)
      const tenant = await testTenant(db)
      const admin = server.client(tenant.key)
      const reader = await tenant.caller(['events.read'])
      const reading = read(t, server.client(reader.key), name, { tail: '0' })
      await reading.next()
      const params = { id: reader.ctx.actorId }
      const body = { status: 'suspended' } as const
      await call(admin, updatePrincipal, { params, ifMatch: 1, body })
      const [last, ...more] = await reading.rest()
      assert.equal(last?.type === 'refused' && last.error.code, 'principal_not_active')
      assert.deepEqual(more, [])
    })

    it('asks so even when nothing happens in the journal', async (t) => {
      const server = await streamServer(t, db, { beatSeconds: 0.05 })
      const { key, ctx } = await testTenant(db)
      const reading = read(t, server.client(key), name, { tail: '0' })
      await reading.next()
      await db`
        update api_keys
        set revoked_at = now()
        where tenant_id = ${ctx.tenantId}`
      const last = (await reading.rest()).at(-1)
      assert.equal(last?.type === 'refused' && last.error.code, 'invalid_credentials')
    })

    it('ends when another part of the tenant comes within reach', async (t) => {
      const server = await streamServer(t, db)
      const tenant = await testTenant(db)
      const workspaceId = await addWorkspace(db, tenant.ctx)
      const reading = read(t, server.client(tenant.key), name, { tail: '0' })
      await reading.next()
      await db`
        update api_keys
        set workspace_id = ${workspaceId}
        where tenant_id = ${tenant.ctx.tenantId}`
      await addWorkspace(db, tenant.ctx)
      const [last] = await reading.rest()
      assert.equal(last?.type === 'end' && last.reason, 'rights_changed')
    })

    it('tells that events after the place are gone, and from where on they are there', async (t) => {
      const server = await streamServer(t, db)
      const client = server.client((await testTenant(db)).key)
      const [first] = await history(client, 3)
      const body = { reason: 'test', maxEvents: 2, withoutConsumer: true }
      await call(client, operations.archiveJournal, { body })
      const { archiveFloorCursor } = await call(client, operations.pruneJournal, { body })
      const after = first?.cursor ?? ''
      const reading = read(t, client, name, { after })
      const error = await refusalOf(reading.rest())
      assert.equal(error.code, 'cursor_below_journal_floor')
      assert.equal(error.details['floorCursor'], archiveFloorCursor)
      const above = read(t, client, name, { after: archiveFloorCursor ?? '' })
      assert.ok(await above.nextEvent())
    })

    it('tells of a backup that was restored since the cursor was given', async (t) => {
      const server = await streamServer(t, db)
      const client = server.client((await testTenant(db)).key)
      const head = (await history(client, 3)).at(-1)?.cursor ?? ''
      const { txId, ...rest } = decodeCursor(head)
      const undone = { ...rest, txId: String(BigInt(txId) + 1n) }
      const error = await refusalOf(read(t, client, name, { after: encodeCursor(undone) }).rest())
      assert.equal(error.code, 'restore_detected')
      assert.equal(error.details['headCursor'], head)
    })

    it('is refused to a caller who has as many as may be', async (t) => {
      const places = createPlaces({ each: 1, all: 2 })
      const server = await streamServer(t, db, { places })
      const tenant = await testTenant(db)
      const reading = read(t, server.client(tenant.key), name)
      await reading.next()
      const more = read(t, server.client(tenant.key), name)
      assert.equal((await refusalOf(more.rest())).code, 'rate_limited')
      const other = server.client((await tenant.caller(['events.read'])).key)
      await read(t, other, name).next()
    })
  })
}

interface Refused {
  code: string
  details: Readonly<Record<string, unknown>>
}

/** How it was refused: over SSE before it began, over a WebSocket as its only message. */
async function refusalOf(messages: ReturnType<ReturnType<typeof read>['rest']>): Promise<Refused> {
  const all = await messages.catch((error: unknown) => error as Refused)
  if (!Array.isArray(all)) return all
  const [only, ...more] = all
  assert.ok(only?.type === 'refused' && more.length === 0, JSON.stringify(all))
  return only.error
}

function closeCode(url: string, token: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    socket.once('close', resolve)
  })
}

describe('a WebSocket that is refused', () => {
  it('says why in the code it is closed with', async (t) => {
    const server = await streamServer(t, db, { places: createPlaces({ each: 1, all: 1 }) })
    const tenant = await testTenant(db)
    const { key } = await tenant.caller(['tasks.read'])
    const url = `${server.url.replace('http', 'ws')}/api/v1/events/ws`
    assert.equal(await closeCode(url, 'cp_no_key'), 4401)
    assert.equal(await closeCode(url, key), 4403)
    assert.equal(await closeCode(`${url}?workspaceId=${newId()}`, tenant.key), 4404)
    assert.equal(await closeCode(`${url}?after=nonsense`, tenant.key), 4400)
    assert.equal(await closeCode(`${url}?colour=red`, tenant.key), 4400)
    await read(t, server.client(tenant.key), 'websocket').next()
    assert.equal(await closeCode(url, tenant.key), 4429)
  })
})

describe('GET /events/stream', () => {
  it('begins behind the last id that a browser has, whatever the address says', async (t) => {
    const server = await streamServer(t, db)
    const client = server.client((await testTenant(db)).key)
    const [first, second] = await history(client, 3)
    const response = await send(client, streamEvents, {
      query: { tail: '1', closeAfterSeconds: '0' },
      headers: { 'Last-Event-ID': first?.cursor ?? '' },
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'no-store, no-transform')
    const text = await response.text()
    assert.ok(text.startsWith(`id: ${second?.cursor}\ndata: {"type":"event","event":{`), text)
    assert.match(text, /\n\nid: \S+\nevent: end\ndata: \{[^\n]+\}\n\n$/)
  })

  it('ends when its time is over', async (t) => {
    const server = await streamServer(t, db)
    const client = server.client((await testTenant(db)).key)
    const cursor = (await history(client, 3)).at(-1)?.cursor ?? ''
    const timed = read(t, client, 'sse', { after: cursor, closeAfterSeconds: '1' })
    assert.deepEqual(await timed.rest(), [
      { type: 'position', cursor },
      { type: 'end', reason: 'time', cursor },
    ])
  })

  it('keeps no place for who asks for its head alone, nor for who never reads', async (t) => {
    const places = createPlaces({ each: 1, all: 1 })
    const server = await streamServer(t, db, { places })
    const { key } = await testTenant(db)
    const url = `${server.url}/api/v1/events/stream`
    const headers = { authorization: `Bearer ${key}` }
    for (let n = 0; n < 2; n += 1) {
      const response = await fetch(url, { method: 'HEAD', headers })
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    }
    assert.equal(places.taken(), 0)
    const unread = wholeApp(db, null, {
      streams: testStreams(db, { places, stallSeconds: 0.05 }),
    })
    await unread.request('/api/v1/events/stream', { headers })
    assert.equal(places.taken(), 1)
    await waitFor(() => places.taken() === 0)
  })

  it('asks a request for the WebSocket to come as one', async (t) => {
    const server = await streamServer(t, db)
    const client = server.client((await testTenant(db)).key)
    const response = await send(client, streamEventsBySocket)
    assert.equal(response.status, 426)
  })
})
