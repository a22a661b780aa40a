import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getObservation, recordObservation } from '#contract/observations.ts'
import type { NewObservation } from '#contract/observations.ts'
import { transaction } from '#db/sql.ts'
import { sha256 } from '#lib/id.ts'
import {
  addSession,
  addTask,
  addWorkspace,
  contextClient,
  contextTenant,
  startTask,
} from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { recordObservation as record } from './record-observation.ts'

const db = await sharedDb()

const FINDING = { kind: 'finding', content: 'The cache is never warm' } as const

describe('POST /observations', () => {
  it('records an observation and gives it back', async () => {
    const { client, ctx } = await contextTenant(db)
    const body = {
      ...FINDING,
      data: { hits: 3, nested: { a: [1, null, 'x'] } },
      assertions: [
        { assert: 'entity', entity: { key: 'service:cache', type: 'service', title: 'Cache' } },
        {
          assert: 'fact',
          fact: {
            subject: 'service:cache',
            predicate: 'DEPENDS_ON',
            object: 'service:db',
            confidence: 0.9,
            validFrom: '2026-01-01T00:00:00Z',
            validTo: '2026-02-01T00:00:00+03:00',
            supersedes: `fact-${'0'.repeat(24)}`,
          },
        },
      ],
      source: 'ci/nightly',
      dedupKey: 'run 7',
      externalRef: { system: 'github', id: '12', url: 'https://example.com/12' },
      observedAt: '2026-01-02T03:04:05+03:00',
    } satisfies NewObservation
    const response = await send(client, recordObservation, { body })
    assert.equal(response.status, 201)
    const recorded = recordObservation.reply.parse(await response.json())
    assert.equal(recorded.deduplicated, false)
    const read = await call(client, getObservation, { params: { id: recorded.id } })
    const { id, eventId, recordedAt, ...rest } = read
    assert.deepEqual(
      { id, eventId, recordedAt },
      { id: recorded.id, eventId: recorded.eventId, recordedAt: recorded.recordedAt },
    )
    assert.deepEqual(rest, {
      ...body,
      observedAt: '2026-01-02T00:04:05.000Z',
      authorId: ctx.actorId,
      supersedes: null,
      visibility: 'workspace',
      taskId: null,
      runId: null,
      workspaceId: null,
      sessionId: null,
    })
  })

  it('keeps the text out of the journal, which proves it by length and sha256', async () => {
    const { client, ctx } = await contextTenant(db)
    const data = { word: 'xylophone' }
    const { eventId } = await observe(client, { content: 'a marmot whistles', data })
    const [event] = await db`
      select payload, entity_type, workspace_id
      from events
      where tenant_id = ${ctx.tenantId} and id = ${eventId}`
    const text = JSON.stringify(event)
    assert.ok(!text.includes('marmot') && !text.includes('xylophone'))
    assert.equal(event?.['payload'].contentLength, 17)
    assert.equal(event?.['payload'].contentSha256, sha256('a marmot whistles'))
  })

  it('stamps the workspace of the task, of the run’s task, or the one given, never an ancestor', async () => {
    const tenant = await contextTenant(db)
    const root = await addWorkspace(db, tenant.ctx)
    const inner = await addWorkspace(db, tenant.ctx, root)
    const task = await addTask(db, tenant.ctx, { workspaceId: inner })
    const { runId: run } = await startTask(db, tenant.ctx, task.id)
    const place = async (body: object) => {
      const { workspaceId, taskId, runId, eventId } = await observe(tenant.client, body)
      const [event] = await db`
        select workspace_id from events where tenant_id = ${tenant.ctx.tenantId} and id = ${eventId}`
      assert.equal(event?.['workspaceId'], workspaceId)
      return { workspaceId, taskId, runId }
    }
    const onTask = { workspaceId: inner, taskId: task.id, runId: null }
    assert.deepEqual(await place({ task: task.id }), onTask)
    assert.deepEqual(await place({ task: task.publicId }), onTask)
    assert.deepEqual(await place({ runId: run }), { ...onTask, runId: run })
    assert.deepEqual(await place({ runId: run, task: task.id }), { ...onTask, runId: run })
    assert.deepEqual(await place({ task: task.id, workspaceId: root }), {
      ...onTask,
      workspaceId: root,
    })
    assert.deepEqual(await place({ workspaceId: root }), {
      workspaceId: root,
      taskId: null,
      runId: null,
    })
    assert.deepEqual(await place({}), { workspaceId: null, taskId: null, runId: null })
  })

  it('knows nothing of what another tenant has', async () => {
    const mine = await contextTenant(db)
    const foreign = await contextTenant(db)
    const workspaceId = await addWorkspace(db, foreign.ctx)
    const task = await addTask(db, foreign.ctx, { workspaceId })
    const { runId } = await startTask(db, foreign.ctx, task.id)
    const sessionId = await addSession(db, foreign.ctx)
    const { id } = await observe(foreign.client, {})
    for (const body of [
      { task: task.id },
      { task: 'TASK-000001' },
      { runId },
      { workspaceId },
      { sessionId },
      { supersedes: id },
      { supersedes: randomUUID() },
    ]) {
      await assert.rejects(observe(mine.client, body), { code: 'not_found' }, JSON.stringify(body))
    }
    await assert.rejects(call(mine.client, getObservation, { params: { id } }), {
      code: 'not_found',
    })
  })

  it('takes only a session of the caller, and a task only with its own run', async () => {
    const tenant = await contextTenant(db)
    const other = await tenant.caller(['sessions.open'])
    const theirs = await addSession(db, other.ctx)
    await assert.rejects(observe(tenant.client, { sessionId: theirs }), {
      code: 'session_owner_mismatch',
    })
    const sessionId = await addSession(db, tenant.ctx)
    await observe(tenant.client, { sessionId })
    const task = await addTask(db, tenant.ctx)
    const another = await addTask(db, tenant.ctx)
    const { runId } = await startTask(db, tenant.ctx, another.id)
    await assert.rejects(observe(tenant.client, { runId, task: task.id }), {
      code: 'observation_invalid',
    })
  })

  it('hides a private observation from everybody else', async () => {
    const tenant = await contextTenant(db)
    const author = await tenant.caller(['observations.write', 'events.read'])
    const own = contextClient(db, author.key)
    const { id, visibility } = await observe(own, { data: { visibility: 'private' } })
    assert.equal(visibility, 'private')
    assert.equal((await call(own, getObservation, { params: { id } })).content, FINDING.content)
    await assert.rejects(call(tenant.client, getObservation, { params: { id } }), {
      code: 'not_found',
    })
    await assert.rejects(observe(tenant.client, { supersedes: id }), { code: 'not_found' })
    await observe(own, { supersedes: id })
  })

  it('does not let something private take the place of what others see', async () => {
    const { client } = await contextTenant(db)
    const shared = await observe(client, {})
    const data = { visibility: 'private' }
    await assert.rejects(observe(client, { supersedes: shared.id, data }), {
      code: 'observation_invalid',
    })
    const own = await observe(client, { data })
    await observe(client, { supersedes: own.id, data })
  })

  it('exists whole or not at all', async () => {
    const { ctx } = await contextTenant(db)
    const cut = transaction(db, 'read write', async (sql) => {
      await record(sql, ctx, { ...FINDING, source: 's', dedupKey: 'k' })
      throw new Error('the process died here')
    })
    await assert.rejects(cut, /died here/)
    const [left] = await db`
      select (select count(*)::int from observations where tenant_id = ${ctx.tenantId}) as rows,
             (select count(*)::int from observation_contents
              where tenant_id = ${ctx.tenantId}) as contents,
             (select count(*)::int from events
              where tenant_id = ${ctx.tenantId} and type = 'observation.recorded') as events`
    assert.deepEqual({ ...left }, { rows: 0, contents: 0, events: 0 })
    const { deduplicated } = await transaction(db, 'read write', (sql) =>
      record(sql, ctx, { ...FINDING, source: 's', dedupKey: 'k' }),
    )
    assert.equal(deduplicated, false)
  })

  it('needs observations.write', async () => {
    const tenant = await contextTenant(db)
    const reader = await tenant.caller(['events.read', 'tasks.write'])
    await assert.rejects(observe(contextClient(db, reader.key), {}), { code: 'permission_denied' })
  })
})

describe('a repeated observation', () => {
  it('is the first one, once, however many callers race', async () => {
    const { client, ctx } = await contextTenant(db)
    const pair = { source: 'race', dedupKey: randomUUID() }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send(client, recordObservation, {
          body: { ...FINDING, content: `take ${n % 2}`, ...pair },
        }),
      ),
    )
    const statuses = answers.map((answer) => answer.status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [...Array.from({ length: 19 }, () => 200), 201])
    const bodies = await Promise.all(
      answers.map(async (answer) => recordObservation.reply.parse(await answer.json())),
    )
    assert.equal(new Set(bodies.map(({ id, eventId }) => `${id} ${eventId}`)).size, 1)
    assert.equal(bodies.filter(({ deduplicated }) => deduplicated).length, 19)
    assert.equal(bodies.filter(({ contentDiffers }) => contentDiffers).length, 10)
    const [stored] = await db`
      select count(*)::int as events,
             (select count(*)::int from observations where tenant_id = ${ctx.tenantId}) as rows
      from events
      where tenant_id = ${ctx.tenantId} and type = 'observation.recorded'`
    assert.deepEqual({ ...stored }, { events: 1, rows: 1 })
  })

  it('belongs to its author: another author’s same pair is another observation', async () => {
    const tenant = await contextTenant(db)
    const other = await tenant.caller(['observations.write'])
    const pair = { source: 'shared', dedupKey: 'k' }
    const first = await observe(tenant.client, pair)
    const second = await observe(contextClient(db, other.key), pair)
    assert.notEqual(first.id, second.id)
    assert.equal(second.deduplicated, false)
    assert.equal((await observe(tenant.client, pair)).id, first.id)
  })

  it('says whether it says something else', async () => {
    const { client } = await contextTenant(db)
    const pair = { source: 's', dedupKey: 'k', data: { b: 1, a: 2 } }
    await observe(client, pair)
    const same = await observe(client, { ...pair, data: { a: 2, b: 1 } })
    assert.equal(same.contentDiffers, false)
    for (const change of [{ data: { a: 1 } }, { content: 'Else' }, { kind: 'note' }]) {
      const { deduplicated, contentDiffers } = await observe(client, { ...pair, ...change })
      assert.deepEqual(
        { deduplicated, contentDiffers },
        { deduplicated: true, contentDiffers: true },
      )
    }
  })

  it('is answered from the record of its Idempotency-Key', async () => {
    const { client } = await contextTenant(db)
    const once = { body: FINDING, idempotencyKey: randomUUID() }
    const first = await send(client, recordObservation, once)
    const again = await send(client, recordObservation, once)
    assert.equal(again.status, 201)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(await again.json(), await first.json())
  })
})

async function observe(client: ClientOptions, changes: Partial<NewObservation>) {
  return await call(client, recordObservation, { body: { ...FINDING, ...changes } })
}
