import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import { recordObservation } from '#contract/observations.ts'
import { decodeCursor, encodeCursor, ORIGIN } from '#events/cursor.ts'
import { sha256 } from '#lib/id.ts'
import { addWorkspace, contextClient, contextTenant } from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()

describe('GET /events', () => {
  it('gives everything once, in order, page by page, each item with its own cursor', async () => {
    const tenant = await contextTenant(db)
    for (let n = 0; n < 5; n += 1) await observe(tenant.client, `finding ${n}`)
    const all = await call(tenant.client, listEvents, { query: { limit: '200' } })
    const seen: string[] = []
    let cursor: string | undefined
    for (let more = true; more;) {
      const page = await call(tenant.client, listEvents, {
        query: { limit: '2', ...(cursor !== undefined && { cursor }) },
      })
      seen.push(...page.items.map((event) => event.id))
      assert.equal(page.items.at(-1)?.cursor ?? cursor, page.nextCursor)
      cursor = page.nextCursor
      more = page.hasMore
    }
    assert.deepEqual(
      seen,
      all.items.map((event) => event.id),
    )
    assert.equal(new Set(all.items.map((event) => event.cursor)).size, all.items.length)
  })

  it('echoes the cursor when nothing is new', async () => {
    const { client } = await contextTenant(db)
    const { nextCursor } = await call(client, listEvents)
    const again = await call(client, listEvents, { query: { after: nextCursor } })
    assert.deepEqual(again, { items: [], nextCursor, prevCursor: null, hasMore: false })
  })

  it('tells of a backup that was restored since the cursor was given', async () => {
    const { client } = await contextTenant(db)
    await observe(client, 'kept')
    const { nextCursor } = await call(client, listEvents)
    const { txId, ...rest } = decodeCursor(nextCursor)
    const undone = encodeCursor({ ...rest, txId: String(BigInt(txId) + 1n) })
    for (const place of ['after', 'cursor', 'before']) {
      await assert.rejects(call(client, listEvents, { query: { [place]: undone } }), {
        code: 'restore_detected',
      })
    }
    const beginning = await call(client, listEvents, { query: { after: encodeCursor(ORIGIN) } })
    assert.ok(beginning.items.length > 0)
  })

  it('gives the last events with tail, and goes on from there', async () => {
    const { client } = await contextTenant(db)
    for (const text of ['one', 'two', 'three']) await observe(client, text)
    const tail = await call(client, listEvents, { query: { tail: '2' } })
    assert.deepEqual(
      tail.items.map((event) => event.payload['content']),
      ['two', 'three'],
    )
    await observe(client, 'four')
    const next = await call(client, listEvents, { query: { cursor: tail.nextCursor } })
    assert.deepEqual(
      next.items.map((event) => event.payload['content']),
      ['four'],
    )
  })

  it('reads back from its end to its beginning, and forward again from any place', async () => {
    const { client } = await contextTenant(db)
    for (let n = 0; n < 4; n += 1) await observe(client, `finding ${n}`)
    const { items: all } = await call(client, listEvents, { query: { limit: '200' } })
    let page = await call(client, listEvents, { query: { tail: '2' } })
    let seen = page.items
    while (page.hasMore) {
      const query = { before: page.prevCursor ?? '', limit: '2' }
      page = await call(client, listEvents, { query })
      seen = [...page.items, ...seen]
    }
    assert.deepEqual(seen, all)
    const first = await call(client, listEvents, { query: { before: all[0]?.cursor ?? '' } })
    assert.deepEqual([first.items, first.hasMore, first.prevCursor], [[], false, null])
    const middle = await call(client, listEvents, { query: { before: all[2]?.cursor ?? '' } })
    const forward = await call(client, listEvents, { query: { cursor: middle.nextCursor } })
    assert.deepEqual([...middle.items, ...forward.items], all)
  })

  it('filters by a workspace and what is below it', async () => {
    const { client, ctx } = await contextTenant(db)
    const root = await addWorkspace(db, ctx)
    const inner = await addWorkspace(db, ctx, root)
    await observe(client, 'outside')
    await observe(client, 'above', root)
    await observe(client, 'inside', inner)
    const texts = async (workspaceId: string) => {
      const query = { workspaceId, types: 'observation.' }
      const { items } = await call(client, listEvents, { query })
      return items.map((event) => event.payload['content'])
    }
    assert.deepEqual(await texts(root), ['above', 'inside'])
    assert.deepEqual(await texts(inner), ['inside'])
    const workspaceId = randomUUID()
    await assert.rejects(call(client, listEvents, { query: { workspaceId } }), {
      code: 'not_found',
    })
  })

  it('filters by prefixes of types and moves on past what does not match', async () => {
    const { client } = await contextTenant(db)
    await observe(client, 'one')
    const page = await call(client, listEvents, { query: { types: ['task.', 'run.started'] } })
    assert.deepEqual(page.items, [])
    const rest = await call(client, listEvents, { query: { cursor: page.nextCursor } })
    assert.deepEqual(rest.items, [])
    const { items } = await call(client, listEvents, { query: { types: 'observation.,nothing' } })
    assert.deepEqual(
      items.map((event) => event.type),
      ['observation.recorded'],
    )
  })

  it('filters by entity', async () => {
    const { client } = await contextTenant(db)
    const { id } = await observe(client, 'mine')
    await observe(client, 'other')
    const query = { entityType: 'observation', entityId: id }
    const { items } = await call(client, listEvents, { query })
    assert.deepEqual(
      items.map((event) => event.entityId),
      [id],
    )
  })

  it('filters by who acted and by when, and goes on from the frontier', async () => {
    const tenant = await contextTenant(db)
    const agent = await tenant.caller(['observations.write', 'events.read'])
    const client = contextClient(db, agent.key)
    await observe(client, 'by the agent')
    await observe(tenant.client, 'by the admin')
    const query = { actorId: agent.ctx.actorId, limit: '200' }
    const { items, nextCursor } = await call(tenant.client, listEvents, { query })
    assert.deepEqual(
      items.map((event) => event.payload['content']),
      ['by the agent'],
    )
    const all = await call(tenant.client, listEvents, { query: { limit: '200' } })
    assert.equal(nextCursor, all.nextCursor)
    const [first, second] = [all.items.at(-2)?.occurredAt, all.items.at(-1)?.occurredAt]
    const ids = async (period: { from?: string; to?: string }) => {
      const page = await call(tenant.client, listEvents, { query: { ...period, limit: '200' } })
      return page.items.map((event) => event.id)
    }
    const expected = (isIn: (at: string) => boolean) =>
      all.items.filter(({ occurredAt }) => isIn(occurredAt)).map((event) => event.id)
    const [from = '', to = ''] = [first, second]
    assert.deepEqual(
      await ids({ from, to: '2999-01-01T00:00:00+03:00' }),
      expected((at) => at >= from),
    )
    assert.deepEqual(
      await ids({ to: from }),
      expected((at) => at < from),
    )
    assert.deepEqual(await ids({ from: to, to }), [])
    const tail = await call(tenant.client, listEvents, {
      query: { ...query, limit: undefined, tail: '1' },
    })
    assert.equal(tail.items[0]?.payload['content'], 'by the agent')
  })

  it('refuses what is no cursor, no filter, no limit, or two places at once', async () => {
    const { client } = await contextTenant(db)
    const refused = async (query: Record<string, string>, code: string) => {
      await assert.rejects(call(client, listEvents, { query }), { code })
    }
    await refused({ cursor: 'nonsense' }, 'invalid_cursor')
    await refused(
      { cursor: `${encodeCursor({ journalEpoch: 1, txId: '1', sequence: '1' })}=` },
      'invalid_cursor',
    )
    await refused({ after: 'ec2_abc' }, 'unsupported_cursor_version')
    await refused({ types: 'Run.' }, 'invalid_event_type_filter')
    await refused({ types: 'run.*' }, 'invalid_event_type_filter')
    await refused(
      { types: Array.from({ length: 21 }, () => 'run.').join() },
      'invalid_event_type_filter',
    )
    await refused({ limit: '0' }, 'invalid_limit')
    await refused({ tail: '201' }, 'invalid_limit')
    await refused(
      { tail: '1', cursor: encodeCursor({ journalEpoch: 1, txId: '1', sequence: '1' }) },
      'invalid_request',
    )
    await refused({ colour: 'red' }, 'invalid_request')
  })

  it('needs events.read and shows nothing of another tenant', async () => {
    const mine = await contextTenant(db)
    const foreign = await contextTenant(db)
    const { id } = await observe(foreign.client, 'theirs')
    const { items } = await call(mine.client, listEvents, { query: { limit: '200' } })
    assert.ok(items.every((event) => event.tenantId === mine.ctx.tenantId))
    assert.ok(items.every((event) => event.entityId !== id))
    const agent = await mine.caller(['observations.write'])
    await assert.rejects(call(contextClient(db, agent.key), listEvents), {
      code: 'permission_denied',
    })
  })

  it('shows the text of a private observation to its author alone', async () => {
    const tenant = await contextTenant(db)
    const author = await tenant.caller(['observations.write', 'events.read'])
    const secret = { visibility: 'private', mood: 'tired' }
    const written = await call(contextClient(db, author.key), recordObservation, {
      body: {
        kind: 'note',
        content: 'only for me',
        data: secret,
        source: 'diary',
        dedupKey: 'page-7',
      },
    })
    const query = { entityType: 'observation', entityId: written.id }
    await waitFor(async () => (await call(tenant.client, listEvents, { query })).items.length > 0)
    const eventFor = async (key: string) => {
      const { items } = await call(contextClient(db, key), listEvents, { query })
      return items[0]?.payload
    }
    const own = await eventFor(author.key)
    assert.equal(own?.['content'], 'only for me')
    assert.equal(own?.['dedupKey'], 'page-7')
    const others = JSON.stringify(await eventFor(tenant.key))
    assert.match(others, /"visibility":"private"/)
    assert.doesNotMatch(others, /contentLength/)
    for (const hidden of ['only for me', 'tired', 'diary', 'page-7', sha256('only for me')]) {
      assert.ok(!others.includes(hidden), `shows ${hidden}`)
    }
  })
})

async function observe(client: ClientOptions, content: string, workspaceId?: string) {
  const recorded = await call(client, recordObservation, {
    body: { kind: 'finding', content, ...(workspaceId !== undefined && { workspaceId }) },
  })
  await waitFor(async () => {
    const query = { entityType: 'observation', entityId: recorded.id }
    return (await call(client, listEvents, { query })).items.length > 0
  })
  return recorded
}
