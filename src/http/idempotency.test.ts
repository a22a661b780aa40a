import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { testApp, testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { createPrincipal } from '#contract/org.ts'
import * as workspaces from '#contract/workspaces.ts'
import { createWorkspace } from '#org/create-workspace.ts'
import { orgRoutes } from '#org/routes.ts'
import { runOnce } from './idempotency.ts'
import { insertPending } from './idempotency.sql.ts'

const db = await sharedDb()
const app = testApp(db, orgRoutes)

async function create(client: ClientOptions, idempotencyKey: string, slug: string) {
  const body = { slug, name: slug }
  return await answerOf(await send(client, workspaces.createWorkspace, { body, idempotencyKey }))
}

async function addAgent(client: ClientOptions, idempotencyKey: string, displayName: string) {
  const body = { kind: 'agent', displayName } as const
  return await answerOf(await send(client, createPrincipal, { body, idempotencyKey }))
}

async function answerOf(response: Response) {
  const reply = (await response.json()) as { id?: string; error?: { code: string } }
  return { response, reply, isReplay: response.headers.get('idempotency-replayed') === 'true' }
}

const REFUSED = new Set(['idempotency_key_reused'])

describe('Idempotency-Key', () => {
  it('lets one of twenty twins act and gives all of them its answer', async () => {
    const { key, ctx } = await testTenant(db)
    const client = testClient(app, key)
    const wish = randomUUID()
    const twins = await Promise.all(Array.from({ length: 20 }, () => create(client, wish, 'twins')))

    assert.deepEqual(new Set(twins.map(({ response }) => response.status)), new Set([201]))
    assert.equal(new Set(twins.map(({ reply }) => reply.id)).size, 1)
    assert.equal(twins.filter(({ isReplay }) => !isReplay).length, 1)
    const made = await db`select id from workspaces where tenant_id = ${ctx.tenantId}`
    assert.equal(made.length, 1)
  })

  it('refuses the key for another body, another route and another principal', async () => {
    const tenant = await testTenant(db)
    const client = testClient(app, tenant.key)
    const other = testClient(app, (await tenant.caller(['workspaces.manage'])).key)
    const wish = randomUUID()
    await create(client, wish, 'first')

    const body = await create(client, wish, 'second')
    const principal = await create(other, wish, 'first')
    const route = await addAgent(client, wish, 'first')
    assert.deepEqual(
      [body, principal, route].map(({ reply }) => reply.error?.code),
      ['idempotency_key_reused', 'idempotency_key_reused', 'idempotency_key_reused'],
    )
    assert.ok(!JSON.stringify(body.reply).includes('first'))
  })

  it('lets one act of twenty at once that differ in body, principal or route', async () => {
    const tenant = await testTenant(db)
    const { tenantId } = tenant.ctx
    const client = testClient(app, tenant.key)
    const other = testClient(app, (await tenant.caller(['workspaces.manage'])).key)
    const count = async () => {
      const [row] = await db<[{ made: number }]>`
        select ((select count(*) from workspaces where tenant_id = ${tenantId})
          + (select count(*) from principals where tenant_id = ${tenantId}))::int as made`
      return row.made
    }
    const before = await count()
    const wish = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        if (index % 3 === 0) return create(client, wish, `body-${index}`)
        return index % 3 === 1 ? create(other, wish, 'other') : addAgent(client, wish, 'agent')
      }),
    )
    const acted = answers.filter(({ response, isReplay }) => response.ok && !isReplay)
    assert.equal(acted.length, 1)
    assert.equal((await count()) - before, 1)
    const refused = answers.filter(({ response }) => !response.ok)
    assert.deepEqual(new Set(refused.map(({ reply }) => reply.error?.code)), REFUSED)
  })

  it('stores no failure: the same key works once the cause is gone', async () => {
    const { key } = await testTenant(db)
    const client = testClient(app, key)
    const wish = randomUUID()
    await create(client, randomUUID(), 'taken')
    assert.equal((await create(client, wish, 'taken')).response.status, 409)
    assert.equal((await create(client, wish, 'taken')).response.status, 409)
  })

  it('asks again who calls before it repeats an answer', async () => {
    const tenant = await testTenant(db)
    const caller = await tenant.caller(['workspaces.manage'])
    const client = testClient(app, caller.key)
    const wish = randomUUID()
    await create(client, wish, 'mine')
    await db`
      update api_keys set revoked_at = now()
      where tenant_id = ${tenant.ctx.tenantId} and principal_id = ${caller.ctx.actorId}`
    assert.equal((await create(client, wish, 'mine')).response.status, 401)
  })

  it('keeps keys of different tenants apart', async () => {
    const wish = randomUUID()
    const [one, two] = [await testTenant(db), await testTenant(db)]
    const first = await create(testClient(app, one.key), wish, 'same')
    const second = await create(testClient(app, two.key), wish, 'same')
    assert.deepEqual([first.response.status, second.response.status], [201, 201])
    assert.notEqual(first.reply.id, second.reply.id)
  })

  it('undoes a command whose key a call to another service took meanwhile', async () => {
    const { ctx } = await testTenant(db)
    const once = { key: randomUUID(), fingerprint: 'ours', secretFields: [] }
    const taken = { ...once, fingerprint: 'theirs', token: randomUUID(), leaseSeconds: 60 }
    const slug = `s-${randomUUID()}`
    const ours = db.begin((sql) =>
      runOnce(sql, ctx, once, async () => {
        await createWorkspace(sql, ctx, { slug, name: slug, parentId: null })
        assert.ok(await insertPending(db, ctx, taken))
        return { status: 201, body: {} }
      }),
    )
    await assert.rejects(ours, { code: 'idempotency_in_flight' })
    const made = await db`
      select id from workspaces where tenant_id = ${ctx.tenantId} and slug = ${slug}`
    assert.equal(made.length, 0)
  })

  it('forgets after its time', async () => {
    const { key, ctx } = await testTenant(db)
    const client = testClient(app, key)
    const wish = randomUUID()
    await create(client, wish, 'before')
    await db`
      update idempotency_records set expires_at = now() - interval '1 second'
      where tenant_id = ${ctx.tenantId}`
    assert.equal((await create(client, wish, 'after')).response.status, 201)
  })
})
