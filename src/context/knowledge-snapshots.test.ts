import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { previewSnapshot, reconcileSnapshot } from '#contract/knowledge.ts'
import { transaction } from '#db/sql.ts'
import { archiveWorkspace } from '#org/archive-workspace.ts'
import {
  addWorkspace,
  contextClient,
  contextTenant,
  knowledgeEvents,
  providerAt,
} from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { memoryAnswering } from '../../test/support/fake-memory.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()

const RECONCILED = {
  source: 'git',
  opened: 2,
  closed: 0,
  entities: { opened: 2 },
  changes: {
    opened: [
      { kind: 'file', key: 'file:a' },
      { kind: 'file', key: 'file:b' },
    ],
    changed: [],
    closed: [],
    truncated: false,
  },
  duplicate: false,
  dryRun: false,
}

const SNAPSHOT = {
  source: 'git',
  scope: 'acme/app',
  snapshotId: 'acme/app@1',
  observedAt: '2026-01-15T10:00:00Z',
  entities: [
    { kind: 'file', key: 'file:a', attributes: { note: 'SESAME' } },
    { kind: 'file', key: 'file:b' },
  ],
  relations: [],
}

describe('POST /knowledge/snapshots', () => {
  it('forwards the snapshot into the workspace’s tree and passes memory’s answer on', async (t) => {
    const memory = await memoryAnswering(t, 200, { ...RECONCILED, anything: [1] })
    const tenant = await contextTenant(db, providerAt(memory.url))
    const root = await addWorkspace(db, tenant.ctx)
    const workspaceId = await addWorkspace(db, tenant.ctx, root)
    const body = { ...SNAPSHOT, workspaceId, pack: 'software-delivery', expectedState: 'st1-x' }
    const answer = await call(tenant.client, reconcileSnapshot, { body })
    assert.deepEqual(answer, { ...RECONCILED, anything: [1] })
    const [asked] = memory.heard
    assert.equal(asked?.path, '/api/memory/reconcile')
    assert.deepEqual(asked?.body, {
      namespace: `tenant:${tenant.ctx.tenantId}:ws:${root}`,
      scopes: [`workspace:${workspaceId}`],
      source: 'git',
      scope: 'acme/app',
      snapshot_id: 'acme/app@1',
      observed_at: '2026-01-15T10:00:00Z',
      entities: SNAPSHOT.entities,
      relations: [],
      dry_run: false,
      allow_empty: false,
      pack: 'software-delivery',
      expected_state: 'st1-x',
    })
  })

  it('notes in the journal what changed, with numbers and keys and without content', async (t) => {
    const memory = await memoryAnswering(t, 200, RECONCILED)
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    await call(tenant.client, reconcileSnapshot, { body: { ...SNAPSHOT, workspaceId } })
    const events = await knowledgeEvents(db, tenant.ctx.tenantId)
    assert.deepEqual(events, [
      {
        type: 'knowledge.snapshot_reconciled',
        workspaceId,
        payload: {
          workspaceId,
          source: 'git',
          scope: 'acme/app',
          snapshotId: 'acme/app@1',
          duplicate: false,
          counters: { opened: 2, closed: 0, 'entities.opened': 2 },
        },
      },
      {
        type: 'knowledge.changed',
        workspaceId,
        payload: {
          workspaceId,
          changes: [
            { kind: 'file', key: 'file:a', change: 'opened' },
            { kind: 'file', key: 'file:b', change: 'opened' },
          ],
          truncated: false,
        },
      },
    ])
    assert.ok(!JSON.stringify(events).includes('SESAME'))
  })

  it('lets nobody name a namespace or scopes', async (t) => {
    const memory = await memoryAnswering(t, 200, RECONCILED)
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    for (const extra of [{ namespace: 'tenant:x' }, { scopes: ['workspace:x'] }]) {
      const body = { ...SNAPSHOT, workspaceId, ...extra }
      await assert.rejects(call(tenant.client, reconcileSnapshot, { body }), {
        code: 'invalid_request',
      })
    }
    assert.equal(memory.heard.length, 0)
  })

  it('takes no workspace that is foreign or archived, and no caller without the right', async (t) => {
    const memory = await memoryAnswering(t, 200, RECONCILED)
    const tenant = await contextTenant(db, providerAt(memory.url))
    const foreign = await contextTenant(db)
    const archived = await addWorkspace(db, tenant.ctx)
    await transaction(db, 'read write', (sql) =>
      archiveWorkspace(sql, tenant.ctx, { id: archived }),
    )
    const refused = async (workspaceId: string, code: string) => {
      const body = { ...SNAPSHOT, workspaceId }
      await assert.rejects(call(tenant.client, reconcileSnapshot, { body }), { code })
    }
    await refused(randomUUID(), 'not_found')
    await refused(await addWorkspace(db, foreign.ctx), 'not_found')
    await refused(archived, 'workspace_archived')
    const agent = await tenant.caller(['events.read'])
    const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
    const poor = contextClient(db, agent.key, providerAt(memory.url))
    await assert.rejects(call(poor, reconcileSnapshot, { body }), { code: 'permission_denied' })
    assert.equal(memory.heard.length, 0)
  })

  it('tells the caller’s faults from memory’s', async (t) => {
    const cases: [number, object, string, object?][] = [
      [400, { detail: 'SESAME' }, 'snapshot_invalid', { items: [] }],
      [
        422,
        {
          detail: 'SESAME',
          errors: [{ loc: 'body.entities.0.attributes.note', message: 'SESAME' }],
        },
        'snapshot_invalid',
        { items: [{ kind: 'file', key: 'file:a', loc: 'body.entities.0.attributes.note' }] },
      ],
      [
        422,
        { items: [{ kind: 'fil', key: 'x', value: 'SESAME' }] },
        'snapshot_invalid',
        { items: [{ kind: 'fil', key: 'x' }] },
      ],
      [422, { code: 'snapshot_empty', detail: 'SESAME' }, 'snapshot_empty'],
      [409, { detail: 'SESAME' }, 'snapshot_stale'],
      [413, { detail: 'SESAME' }, 'request_too_large'],
      [401, { detail: 'SESAME' }, 'memory_unavailable', { memoryStatus: 401, retryable: false }],
      [403, { detail: 'SESAME' }, 'memory_unavailable', { memoryStatus: 403, retryable: false }],
      [404, { detail: 'SESAME' }, 'memory_unavailable', { memoryStatus: 404, retryable: false }],
      [429, {}, 'memory_unavailable', { memoryStatus: 429, retryable: true }],
      [500, { detail: 'SESAME' }, 'memory_unavailable', { memoryStatus: 500, retryable: true }],
    ]
    const tenant = await contextTenant(db)
    const workspaceId = await addWorkspace(db, tenant.ctx)
    for (const [status, body, code, details] of cases) {
      const memory = await memoryAnswering(t, status, body)
      const client = contextClient(db, tenant.key, providerAt(memory.url))
      const response = await send(client, reconcileSnapshot, { body: { ...SNAPSHOT, workspaceId } })
      const text = await response.text()
      const { error } = JSON.parse(text) as { error: { code: string; details: object } }
      assert.equal(error.code, code, text)
      if (details) assert.deepEqual(error.details, details)
      assert.ok(!text.includes('SESAME'), text)
    }
    assert.deepEqual(await knowledgeEvents(db, tenant.ctx.tenantId), [])
  })

  it('says when memory is absent, silent or not configured', async (t) => {
    const gone = await fakeServer(t, () => {})
    await gone.close()
    const silent = await fakeServer(t, () => {})
    const tenant = await contextTenant(db)
    const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
    await assert.rejects(call(tenant.client, reconcileSnapshot, { body }), {
      code: 'memory_disabled',
    })
    for (const [{ url }, expected, status] of [
      [gone, 'memory_unavailable', 502],
      [silent, 'memory_timeout', 503],
    ] as const) {
      const provider = providerAt(url, { reconcileTimeoutSeconds: 0.2 })
      const client = contextClient(db, tenant.key, provider)
      await assert.rejects(call(client, reconcileSnapshot, { body }), (error: Error) => {
        const { code, details } = error as Error & { code: string; details: object }
        assert.equal(code, expected)
        assert.deepEqual(details, { memoryStatus: null, retryable: true, status })
        return true
      })
    }
  })

  it('acts once for one Idempotency-Key, and frees the key when memory fails', async (t) => {
    let status = 500
    const memory = await fakeServer(t, (_, response) => reply(response, status, RECONCILED))
    const tenant = await contextTenant(db, providerAt(memory.url))
    const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
    const once = { body, idempotencyKey: randomUUID() }
    await assert.rejects(call(tenant.client, reconcileSnapshot, once), {
      code: 'memory_unavailable',
    })
    status = 200
    await call(tenant.client, reconcileSnapshot, once)
    const again = await send(tenant.client, reconcileSnapshot, once)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.equal(memory.heard.length, 2)
    assert.equal((await knowledgeEvents(db, tenant.ctx.tenantId)).length, 2)
  })

  it('holds a twin off while the first is still with memory', async (t) => {
    const waiting: ServerResponse[] = []
    const memory = await fakeServer(t, (_, response) => waiting.push(response))
    const tenant = await contextTenant(db, providerAt(memory.url))
    const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
    const once = { body, idempotencyKey: randomUUID() }
    const first = call(tenant.client, reconcileSnapshot, once)
    await waitFor(() => memory.heard.length === 1)
    await assert.rejects(call(tenant.client, reconcileSnapshot, once), {
      code: 'idempotency_in_flight',
    })
    for (const response of waiting) reply(response, 200, RECONCILED)
    await first
  })
})

describe('POST /knowledge/snapshots:preview', () => {
  it('asks for a plan and leaves no event', async (t) => {
    const memory = await memoryAnswering(t, 200, { ...RECONCILED, dryRun: true })
    const tenant = await contextTenant(db, providerAt(memory.url))
    const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
    const plan = await call(tenant.client, previewSnapshot, { body })
    assert.deepEqual(plan, { ...RECONCILED, dryRun: true })
    assert.partialDeepStrictEqual(memory.heard[0]?.body, { dry_run: true })
    assert.deepEqual(await knowledgeEvents(db, tenant.ctx.tenantId), [])
  })

  it('does not take an answer without a plan for one', async (t) => {
    for (const answer of [{ dryRun: true }, RECONCILED]) {
      const memory = await memoryAnswering(t, 200, answer)
      const tenant = await contextTenant(db, providerAt(memory.url))
      const body = { ...SNAPSHOT, workspaceId: await addWorkspace(db, tenant.ctx) }
      await assert.rejects(call(tenant.client, previewSnapshot, { body }), {
        code: 'memory_unavailable',
      })
    }
  })
})
