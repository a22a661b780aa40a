import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { call } from '#client/client.ts'
import { createPrincipal } from '#contract/org.ts'
import type { Database } from '#db/sql.ts'
import { createPlaces } from '#http/places.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDatabase, sharedDb } from '../../test/support/db.ts'
import { read, streamServer } from '../../test/support/stream-server.ts'
import { tcpProxy } from '../../test/support/tcp-proxy.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()

const LIVE = ['sse', 'websocket'] as const

const EVENTS = 700
const CHARS = 60_000
/** More than one batch and all buffers of two kernels, much less than the whole. */
const BOUND = 20_000_000

describe('a reader that takes nothing', () => {
  it('is cut with little held for it, and misses nothing when it comes again', async (t) => {
    const { key, ctx } = await testTenant(db)
    await addLargeEvents(db, ctx.tenantId)
    const places = createPlaces({ each: 10, all: 10 })
    const server = await streamServer(t, db, { places, stallSeconds: 0.5 })
    const headers = { authorization: `Bearer ${key}` }
    const query = 'types=test.'
    const { hostname, port } = new URL(server.url)
    const proxy = await tcpProxy(t, () => ({ host: hostname, port: Number(port) }))
    const path = `127.0.0.1:${proxy.port}/api/v1/events`
    const text = slowRequest(`http://${path}/stream?${query}`, headers)
    const socket = new WebSocket(`ws://${path}/ws?${query}`, { headers })
    socket.on('error', () => {})
    await once(socket, 'open')
    socket.pause()
    await waitFor(() => places.taken() === 2)
    await waitFor(() => places.taken() === 0)
    assert.ok(proxy.carried() < 2 * BOUND, `${proxy.carried()} bytes were sent`)
    socket.terminate()

    const whole = (await text()).split('\n\n').slice(0, -1)
    assert.ok(whole.length > 0 && whole.length < EVENTS)
    const [after = ''] = /ec1_\S+/.exec(whole.at(-1) ?? '') ?? []
    const again = read(t, server.client(key), 'sse', { types: 'test.', after })
    const next = await again.next()
    assert.equal(next?.type === 'event' && next.event.entityVersion, whole.length + 1)
  })
})

describe('streams that wait', () => {
  it('hold no transaction and one connection between them, which a break does not silence', async (t) => {
    const own = await ownDatabase(t, 'control-plane', 'superuser')
    const address = own.address('app')
    const server = await streamServer(t, own.db, { address, pollSeconds: 60 })
    const tenants = [await testTenant(own.db), await testTenant(own.db)]
    const readings = tenants.flatMap(({ key }) =>
      LIVE.map((name) => read(t, server.client(key), name, { tail: '0' })),
    )
    for (const reading of readings) await reading.next()
    const sessions = () => own.db<{ pid: number; state: string; appName: string }[]>`
      select pid, state, application_name as app_name
      from pg_stat_activity
      where datname = current_database()
        and pid <> pg_backend_pid()`
    assert.ok((await sessions()).every(({ state }) => !state.includes('transaction')))
    const listeners = async () =>
      (await sessions()).filter(({ appName }) => appName === 'strata-listener')
    const [ear, ...others] = await listeners()
    assert.deepEqual(others, [])
    const tell = (tenantId: string) => own.db`select pg_notify('strata_events', ${tenantId})`
    const hear = async () => {
      for (const [index, { ctx, key }] of tenants.entries()) {
        await call(server.client(key), createPrincipal, {
          body: { kind: 'agent', displayName: 'Heard' },
        })
        await tell(ctx.tenantId)
        for (const reading of readings.slice(index * 2, index * 2 + 2)) {
          assert.ok(await reading.nextEvent())
        }
      }
    }
    await hear()
    await own.db`select pg_terminate_backend(${ear?.pid ?? 0})`
    await waitFor(async () => {
      const [now] = await listeners()
      return now !== undefined && now.pid !== ear?.pid
    })
    await hear()
    await server.stop()
    await waitFor(async () => (await listeners()).length === 0)
  })
})

/** Asks, and reads only when the answer is called; up to where it was cut. */
function slowRequest(url: string, headers: Record<string, string>): () => Promise<string> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  get(url, { headers }, (response) => {
    response.on('error', () => {})
    resolve(response)
  })
  return async () => {
    const response = await promise
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => (text += part))
    if (!response.closed) await new Promise((done) => response.once('close', done))
    return text
  }
}

async function addLargeEvents(sql: Database, tenantId: string): Promise<void> {
  await sql`
    insert into events
      (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, payload)
    select ${tenantId}, j.journal_epoch, gen_random_uuid(), 'test.large', 'test', 'large', n,
           jsonb_build_object('text', repeat('x', ${CHARS}::int))
    from journal_state j, generate_series(1, ${EVENTS}::int) n
    order by n`
  await waitFor(async () => {
    const [row] = await sql<{ stable: boolean }[]>`
      select max(tx_id) < pg_snapshot_xmin(pg_current_snapshot()) as stable
      from events
      where tenant_id = ${tenantId}`
    return row?.stable === true
  })
}
