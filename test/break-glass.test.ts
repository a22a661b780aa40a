import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { getMe, updatePrincipal } from '#contract/org.ts'
import { databaseUrl } from '#db/address.ts'
import type { Database } from '#db/sql.ts'
import { orgRoutes } from '#org/routes.ts'
import { runBreakGlass } from '../src/break-glass.ts'
import { readConfig } from '../src/config.ts'
import { firstStart } from '../src/first-start.ts'
import { testApp, testClient } from './support/client.ts'
import { testTenant } from './support/ctx.ts'
import { ownDatabase, ownServer } from './support/db.ts'
import { startProgram } from './support/program.ts'
import { codeOf } from './support/two-trees.ts'

/** Runs the command and answers the key that it printed. */
async function emergency(
  settings: Record<string, string>,
  ...argv: string[]
): Promise<{ key: string; said: string }> {
  const printed: string[] = []
  const said: string[] = []
  await runBreakGlass(readConfig(settings), argv, {
    print: (line) => printed.push(line),
    say: (message) => said.push(message),
  })
  assert.equal(printed.length, 1)
  return { key: printed[0] ?? '', said: said.join('\n') }
}

function clientOf(db: Database, key: string, breakGlassSeconds = 14_400, localKeys = false) {
  const app = testApp(db, orgRoutes, { keys: { localKeys, breakGlassSeconds } })
  return testClient(app, key)
}

describe('strata break-glass', () => {
  it('finds the database that another process runs in the data folder', async (t) => {
    const server = await ownServer(t)
    const db = await server.open('control-plane')
    const settings = { STRATA_DATA: server.dataFolder }
    const wish = ['--reason', 'all keys are lost']
    await assert.rejects(() => emergency(settings, ...wish), /name a tenant/)
    await firstStart(db, server.dataFolder)

    const { key } = await emergency(settings, ...wish)

    assert.match(key, /^cp_bg[0-9a-f]{12}_/)
    const me = await call(clientOf(db, key), getMe, {})
    assert.equal(me.tenant.slug, 'local')
    assert.deepEqual(me.permissions, ['admin'])
    const [event] = await db`
      select actor_id, payload
      from events
      where tenant_id = ${me.tenant.id}
        and type = 'break_glass_key.created'`
    assert.equal(event?.['actorId'], null)
    assert.equal(event?.['payload'].reason, 'all keys are lost')
  })

  it('acts as an active person of the tenant that is named, for as long as it says', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const settings = { CP_DATABASE_URL: databaseUrl(address('app')) }
    const tenant = await testTenant(db)
    const { slug } = (await call(clientOf(db, tenant.key, 0, true), getMe, {})).tenant
    const other = await tenant.caller(['admin'], 'human')
    const named = ['--reason', 'drill', '--tenant', slug, '--ttl', '60']

    const { key } = await emergency(settings, ...named, '--principal', other.ctx.actorId)
    assert.equal((await call(clientOf(db, key), getMe, {})).principal.id, other.ctx.actorId)
    assert.equal(await codeOf(clientOf(db, key, 0), getMe, {}), 'invalid_credentials')
    await db`
      update api_keys
      set created_at = created_at - interval '1 hour'
      where tenant_id = ${tenant.ctx.tenantId}`
    assert.equal(await codeOf(clientOf(db, key, 1800), getMe, {}), 'invalid_credentials')

    const suspend = { params: { id: other.ctx.actorId }, ifMatch: 1 }
    await call(clientOf(db, tenant.key, 0, true), updatePrincipal, {
      ...suspend,
      body: { status: 'suspended' },
    })
    const wish = emergency(settings, ...named, '--principal', other.ctx.actorId)
    await assert.rejects(wish, /no such active person/)
    assert.equal(await codeOf(clientOf(db, key), getMe, {}), 'principal_not_active')
  })

  it('refuses what is no request for a key, and says why', async () => {
    const off = { CP_BREAK_GLASS_ENABLED: 'false' }
    const refusals: [Record<string, string>, string[], RegExp][] = [
      [{}, [], /--reason/],
      [{}, ['--reason', '  '], /--reason/],
      [{}, ['--reason', 'x', '--ttl', '14401'], /1 to 14400/],
      [{}, ['--reason', 'x', '--ttl', '1e2.5'], /whole number/],
      [{}, ['--reason', 'x', '--principal', 'bob'], /must be an id/],
      [{}, ['--reason', 'x', 'more'], /usage/],
      [{}, ['--reason', 'x', '--force'], /usage/],
      [{ STRATA_DATA: '/nowhere' }, ['--reason', 'x'], /no database is running/],
      [off, ['--reason', 'x'], /CP_BREAK_GLASS_ENABLED/],
    ]
    for (const [settings, argv, message] of refusals) {
      await assert.rejects(() => emergency(settings, ...argv), message, argv.join(' '))
    }
  })

  it('is a command of the program, which prints the key alone', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const { slug } = (await call(clientOf(db, (await testTenant(db)).key, 0, true), getMe, {}))
      .tenant
    const argv = ['src/main.ts', 'break-glass', '--reason', 'drill', '--tenant', slug]
    const env = { ...process.env, CP_DATABASE_URL: databaseUrl(address('app')) }
    const running = startProgram(t, argv, { env })
    assert.equal(await running.ended, 0, running.said())
    const printed = running.said().replace(running.told(), '').trim()
    assert.equal(await codeOf(clientOf(db, printed), getMe, {}), 'ok')
  })
})
