import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import type { JournalEvent } from '#contract/events.ts'
import { updatePrincipal } from '#contract/org.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { streamServer } from '../../test/support/stream-server.ts'
import { call } from './client.ts'
import { followEvents } from './follow-events.ts'
import type { FollowOptions } from './follow-events.ts'

const QUICK = { pauseMs: { min: 1, max: 5 } } as const

function eventAt(cursor: string): JournalEvent {
  const nobody = { workspaceId: null, actorId: null, sessionId: null, iamActorId: null }
  const traced = { correlationId: null, causationId: null, requestId: null, traceRunId: null }
  const about = { type: 'test.happened', entityType: 'test', entityId: 'one', entityVersion: 1 }
  const at = { sequence: '1', txId: '1', occurredAt: '2026-03-01T10:00:00.000Z' }
  const ids = { id: newId(), tenantId: newId(), schemaVersion: 1, payload: {} }
  return { cursor, ...ids, ...about, ...at, ...nobody, ...traced }
}

function frame(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`
}

function sayEvents(response: ServerResponse, ...cursors: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const cursor of cursors) {
    response.write(frame({ type: 'event', event: eventAt(cursor) }))
  }
}

/** The cursors of the first events. */
async function read(url: string, count: number, options: FollowOptions = {}): Promise<string[]> {
  const cursors: string[] = []
  for await (const { cursor } of followEvents({ url, token: 'key' }, { ...QUICK, ...options })) {
    cursors.push(cursor)
    if (cursors.length === count) return cursors
  }
  return cursors
}

describe('followEvents', () => {
  it('takes another way when one does not get through, and says why', async (t) => {
    const { url, heard } = await fakeServer(t, ({ path }, response) => {
      if (path.includes('/ws')) response.destroy()
      else if (path.includes('/stream')) reply(response, 502, '<html>')
      else {
        const items = path.includes('after=c2') ? [] : [eventAt('c1'), eventAt('c2')]
        reply(response, 200, { items, nextCursor: 'c2', prevCursor: null, hasMore: false })
      }
    })
    const troubles: string[] = []
    const onTrouble = ({ message }: Error) => troubles.push(message)
    assert.deepEqual(await read(url, 2, { onTrouble }), ['c1', 'c2'])
    assert.deepEqual(
      heard.map(({ path }) => path),
      ['/api/v1/events/ws', '/api/v1/events/stream', '/api/v1/events?limit=200'],
    )
    assert.equal(troubles.length, 2)
  })

  it('goes on behind the last event that came whole, with the same filter', async (t) => {
    const { url, heard } = await fakeServer(t, ({ path }, response) => {
      if (!path.includes('after=c2')) {
        sayEvents(response, 'c1', 'c2')
        response.write(frame({ type: 'event', event: eventAt('c3') }).slice(0, -1))
        response.end()
      } else sayEvents(response, 'c3')
    })
    const query = { types: ['test.'] }
    assert.deepEqual(await read(url, 3, { transports: ['sse'], query }), ['c1', 'c2', 'c3'])
    assert.equal(heard[1]?.path, '/api/v1/events/stream?types=test.&after=c2')
  })

  it('gives up a connection that has fallen silent', async (t) => {
    const { url, heard } = await fakeServer(t, ({ path }, response) => {
      sayEvents(response, path.includes('after=c1') ? 'c2' : 'c1')
    })
    const options = { transports: ['sse'], silenceMs: 50 } as const
    assert.deepEqual(await read(url, 2, options), ['c1', 'c2'])
    assert.equal(heard.length, 2)
  })

  it('comes again when the server is busy or stops, and passes over what only newer servers say', async (t) => {
    let answers = 0
    const { url } = await fakeServer(t, (_, response) => {
      answers += 1
      const error = { code: 'rate_limited', message: 'Cannot open another', details: {} }
      if (answers === 1) reply(response, 429, { error })
      else if (answers === 2) {
        sayEvents(response, 'c1')
        response.write(frame({ type: 'greeting', text: 'hello' }))
        response.end(frame({ type: 'end', reason: 'shutdown', cursor: 'c1' }))
      } else sayEvents(response, 'c2')
    })
    assert.deepEqual(await read(url, 2, { transports: ['sse'] }), ['c1', 'c2'])
  })

  it('keeps the place before an event whose handler failed', async (t) => {
    const { url } = await fakeServer(t, (_, response) => sayEvents(response, 'c1', 'c2'))
    const reader = followEvents({ url, token: 'key' }, { ...QUICK, transports: ['sse'] })
    const handling = async () => {
      for await (const { cursor } of reader) if (cursor === 'c2') throw new Error('out of paper')
    }
    await assert.rejects(handling(), /out of paper/)
    assert.equal(reader.cursor, 'c1')
  })

  it('ends with the refusal when trying again would not help, and with the signal', async (t) => {
    const db = await sharedDb()
    const server = await streamServer(t, db)
    const tenant = await testTenant(db)
    const { ctx, key } = await tenant.caller(['events.read'])
    for (const transport of ['websocket', 'sse', 'pages'] as const) {
      const options = { ...QUICK, transports: [transport], query: { after: 'x' } } as const
      const reading = followEvents(server.client(key), options)[Symbol.asyncIterator]().next()
      await assert.rejects(reading, (error) => {
        return error instanceof AppError && error.code === 'invalid_cursor'
      })
    }
    const stop = new AbortController()
    const open = followEvents(server.client(key), { signal: stop.signal })
    const events = open[Symbol.asyncIterator]()
    await events.next()
    const body = { status: 'suspended' } as const
    const input = { params: { id: ctx.actorId }, ifMatch: 1, body }
    const reader = followEvents(server.client(key), { query: { tail: '0' } })
    const refused = reader[Symbol.asyncIterator]().next()
    await call(server.client(tenant.key), updatePrincipal, input)
    await assert.rejects(refused, { code: 'principal_not_active' })
    stop.abort(new Error('enough'))
    await assert.rejects(async () => {
      while (!(await events.next()).done);
    }, /enough/)
  })
})
