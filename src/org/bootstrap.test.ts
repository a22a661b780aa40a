import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import { bootstrap as route, getMe } from '#contract/org.ts'
import { TEST_BOOTSTRAP_TOKEN, testApp, testClient } from '../../test/support/client.ts'
import { ownDb } from '../../test/support/db.ts'
import { orgRoutes } from './routes.ts'

const body = { slug: 'local', name: 'Local' }

async function emptyInstallation(t: TestContext) {
  return await ownDb(t, 'control-plane', 'app')
}

describe('bootstrap', () => {
  it('makes the tenant, its first person and an admin key that works', async (t) => {
    const db = await emptyInstallation(t)
    const app = testApp(db, orgRoutes)

    const made = await call(testClient(app, TEST_BOOTSTRAP_TOKEN), route, { body })

    assert.equal(made.tenant.slug, 'local')
    assert.equal(made.principal.kind, 'human')
    assert.equal(made.principal.displayName, 'Administrator')
    const me = await call(testClient(app, made.apiKey.key ?? ''), getMe)
    assert.deepEqual(me, {
      tenant: made.tenant,
      principal: made.principal,
      permissions: ['admin'],
      keyPrefix: made.apiKey.prefix,
      iam: null,
      workspaceId: null,
    })
    const events = await db`
      select type, actor_id
      from events
      where tenant_id = ${made.tenant.id}
      order by tx_id, sequence`
    assert.deepEqual(
      events.map((event) => [event['type'], event['actorId']]),
      ['tenant.bootstrapped', 'principal.created', 'api_key.created'].map((type) => [
        type,
        made.principal.id,
      ]),
    )
  })

  it('happens once, also when several ask at the same moment', async (t) => {
    const db = await emptyInstallation(t)
    const client = testClient(testApp(db, orgRoutes), TEST_BOOTSTRAP_TOKEN)

    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => call(client, route, { body })),
    )

    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') assert.equal(result.reason.code, 'already_bootstrapped')
    }
    await assert.rejects(call(client, route, { body: { ...body, slug: 'another' } }), {
      code: 'already_bootstrapped',
    })
    const [count] = await db`
      select (select count(*)::int from tenants) as tenants,
             (select count(*)::int from principals) as principals,
             (select count(*)::int from api_keys) as api_keys`
    assert.deepEqual({ ...count }, { tenants: 1, principals: 1, apiKeys: 1 })
  })

  it('needs the configured token, and says so when none is configured', async (t) => {
    const db = await emptyInstallation(t)
    const app = testApp(db, orgRoutes)
    for (const token of ['', 'wrong', `${TEST_BOOTSTRAP_TOKEN}x`]) {
      await assert.rejects(call(testClient(app, token), route, { body }), {
        code: 'invalid_credentials',
      })
    }
    const closed = testApp(db, orgRoutes, { bootstrapToken: undefined })
    await assert.rejects(call(testClient(closed, TEST_BOOTSTRAP_TOKEN), route, { body }), {
      code: 'bootstrap_disabled',
    })
    const [count] = await db`select count(*)::int as tenants from tenants`
    assert.equal(count?.['tenants'], 0)
  })
})
