import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { createApiKey } from '#contract/org.ts'
import { listEvents } from '#contract/events-api.ts'
import * as contract from '#contract/webhooks.ts'
import { encodeCursor } from '#events/cursor.ts'
import { newId } from '#lib/id.ts'
import { testClient } from '../../test/support/client.ts'
import { addWorkspace } from '../../test/support/context.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { addWebhook } from '../../test/support/webhooks.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const app = wholeApp(db, null)
/** Nobody listens there; and no worker looks at this database. */
const URL = 'http://127.0.0.1:9/hook'

async function newTenant() {
  const tenant = await testTenant(db)
  return { tenant, client: testClient(app, tenant.key) }
}

async function codeOf(response: Response): Promise<string> {
  if (response.ok) return 'ok'
  return ((await response.json()) as { error: { code: string } }).error.code
}

describe('webhooks', () => {
  it('show their secret once, to whoever made them', async () => {
    const { client } = await newTenant()
    const wish = { body: { url: URL }, idempotencyKey: newId() }
    const made = await call(client, contract.createWebhook, wish)
    assert.match(made.secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/)
    const again = await call(client, contract.createWebhook, wish)
    assert.deepEqual(again, { ...made, secret: null })
    const { secret: _, ...known } = made
    const params = { id: made.id }
    assert.deepEqual(await call(client, contract.getWebhook, { params }), known)
    assert.deepEqual((await call(client, contract.listWebhooks)).items, [known])
    const rotated = await call(client, contract.rotateWebhookSecret, { params })
    assert.notEqual(rotated.secret, made.secret)
    assert.ok(rotated.previousSecretUntil)
    const { items } = await call(client, listEvents, { query: { limit: '200' } })
    const journal = JSON.stringify(items)
    assert.doesNotMatch(journal, /whsec_|\/hook/)
  })

  it('begin where they are told to, or now', async () => {
    const { client } = await newTenant()
    const all = { query: { limit: '200' } }
    await waitFor(async () => (await call(client, listEvents, all)).items.length > 0)
    const { items, nextCursor } = await call(client, listEvents, all)
    const after = items[0]?.cursor ?? ''
    assert.equal((await addWebhook(client, URL, { after })).cursor, after)
    await waitFor(async () => {
      const page = await call(client, listEvents, { query: { after: nextCursor } })
      return page.items.length > 0
    })
    assert.notEqual((await addWebhook(client, URL)).cursor, after)
    const place = { journalEpoch: 1, txId: '1', sequence: '999999' }
    await assert.rejects(addWebhook(client, URL, { after: encodeCursor(place) }), {
      code: 'restore_detected',
    })
    await assert.rejects(addWebhook(client, URL, { after: 'x' }), { code: 'invalid_cursor' })
  })

  it('are changed only from their latest version, and only where something changes', async () => {
    const { client } = await newTenant()
    const { id, version } = await addWebhook(client, URL)
    const change = (ifMatch: number, body: object) =>
      call(client, contract.updateWebhook, { params: { id }, ifMatch, body })
    assert.equal((await change(version, { url: URL })).version, version)
    const filter = { types: ['task.'], entityType: 'task' }
    const changed = await change(version, { filter, description: 'for the board' })
    assert.deepEqual(changed.filter, filter)
    assert.equal(changed.version, version + 1)
    await assert.rejects(change(version, { url: `${URL}/2` }), { code: 'version_conflict' })
    const bad = [
      { url: 'http://example.com/' },
      { url: 'https://10.0.0.1/' },
      { filter: { types: [] } },
    ]
    for (const body of bad) {
      await assert.rejects(
        change(version + 1, body),
        { code: 'invalid_request' },
        JSON.stringify(body),
      )
    }
    await assert.rejects(change(version + 1, { filter: { types: ['Task'] } }), {
      code: 'invalid_event_type_filter',
    })
  })

  it('are paused and resumed, each of it again without effect, and removed', async () => {
    const { client } = await newTenant()
    const { id } = await addWebhook(client, URL)
    const params = { id }
    const paused = await call(client, contract.pauseWebhook, { params })
    assert.deepEqual([paused.status, paused.pauseReason], ['paused', 'by request'])
    assert.deepEqual(await call(client, contract.pauseWebhook, { params }), paused)
    const resumed = await call(client, contract.resumeWebhook, { params })
    assert.deepEqual([resumed.status, resumed.pauseReason], ['active', null])
    assert.deepEqual(await call(client, contract.resumeWebhook, { params }), resumed)
    assert.deepEqual(await call(client, contract.deleteWebhook, { params }), { removed: true })
    await assert.rejects(call(client, contract.getWebhook, { params }), { code: 'not_found' })
  })

  it('need the right to manage them and to read what they tell', async () => {
    const { client, tenant } = await newTenant()
    const { id } = await addWebhook(client, URL)
    const codes = async (...permissions: Parameters<typeof tenant.caller>[0]) => {
      const caller = testClient(app, (await tenant.caller(permissions)).key)
      const body = { url: URL }
      return [
        await codeOf(await send(caller, contract.getWebhook, { params: { id } })),
        await codeOf(await send(caller, contract.createWebhook, { body })),
        await codeOf(await send(caller, contract.pauseWebhook, { params: { id } })),
        await codeOf(await send(caller, contract.resumeWebhook, { params: { id } })),
      ]
    }
    const no = 'permission_denied'
    assert.deepEqual(await codes('webhooks.read'), ['ok', no, no, no])
    assert.deepEqual(await codes('webhooks.manage'), [no, no, 'ok', no])
    assert.deepEqual(await codes('webhooks.manage', 'events.read'), [no, 'ok', 'ok', 'ok'])
  })

  it('of a key that is limited to a workspace stay within it', async () => {
    const { client, tenant } = await newTenant()
    const root = await addWorkspace(db, tenant.ctx)
    const other = await addWorkspace(db, tenant.ctx)
    const everywhere = await addWebhook(client, URL)
    const inside = await addWebhook(client, URL, { workspaceId: root })
    const { key } = await call(client, createApiKey, {
      params: { id: tenant.ctx.actorId },
      body: { name: 'limited', permissions: ['admin'], workspaceId: root },
    })
    const limited = testClient(app, key ?? '')
    const { items } = await call(limited, contract.listWebhooks)
    assert.deepEqual(
      items.map(({ id }) => id),
      [inside.id],
    )
    for (const route of [contract.getWebhook, contract.pauseWebhook, contract.redriveDeadLetters]) {
      const asking = call(limited, route, { params: { id: everywhere.id } })
      await assert.rejects(asking, { code: 'not_found' })
    }
    await assert.rejects(addWebhook(limited, URL), { code: 'permission_denied' })
    await assert.rejects(addWebhook(limited, URL, { workspaceId: other }), { code: 'not_found' })
    assert.equal((await addWebhook(limited, URL, { workspaceId: root })).workspaceId, root)
  })
})
