import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { createPrincipal } from '#org/create-principal.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDatabase, sharedDb } from '../../test/support/db.ts'
import { behind, tcpProxy } from '../../test/support/tcp-proxy.ts'
import { waitFor } from '../../test/support/wait.ts'
import { ORIGIN } from './cursor.ts'
import { Heads } from './heads.ts'
import type { HeadsOptions } from './heads.ts'
import { CHANNEL } from './notify.ts'
import { currentPosition } from './read.ts'

const NEVER = new AbortController().signal
const LONG = { ms: 20_000, signal: NEVER }

function headsOf(t: TestContext, db: Database, options: Partial<HeadsOptions>): Heads {
  const heads = new Heads({ db, pollSeconds: 60, onError: () => {}, ...options })
  t.after(() => heads[Symbol.asyncDispose]())
  return heads
}

async function write(db: Database, ctx: Ctx): Promise<void> {
  await transaction(db, 'read write', (sql) =>
    createPrincipal(sql, ctx, { kind: 'agent', displayName: 'Another' }),
  )
  await db`select pg_notify(${CHANNEL}, ${ctx.tenantId})`
}

describe('the heads of journals', () => {
  it('answer at once what they know, and when nothing comes they say so', async (t) => {
    const db = await sharedDb()
    const { ctx } = await testTenant(db)
    await waitFor(async () => (await currentPosition(db, ctx)).txId !== '0')
    const heads = headsOf(t, db, {})
    using watch = heads.watch(ctx.tenantId)
    assert.equal(await watch.beyond(ORIGIN, LONG), true)
    const head = await currentPosition(db, ctx)
    assert.equal(await watch.beyond(head, { ms: 20, signal: NEVER }), false)
    const stop = new AbortController()
    const waiting = watch.beyond(head, { ms: 20_000, signal: stop.signal })
    stop.abort()
    assert.equal(await waiting, false)
  })

  it('tell of an event that a transaction held back, when it is over, without another wake-up', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const { ctx } = await testTenant(db)
    const heads = headsOf(t, db, { address: address('app') })
    using watch = heads.watch(ctx.tenantId)
    const head = await transaction(db, 'read write', async (open) => {
      await open`select pg_current_xact_id()`
      const before = await currentPosition(db, ctx)
      await write(db, ctx)
      assert.equal(await watch.beyond(before, { ms: 100, signal: NEVER }), false)
      return before
    })
    assert.equal(await watch.beyond(head, LONG), true)
  })

  it('survive a connection that has gone deaf, and make it anew', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const { ctx } = await testTenant(db)
    const { target, over } = behind(address('app'))
    const proxy = await tcpProxy(t, () => target)
    const heads = headsOf(t, db, { address: over(proxy.port), pollSeconds: 0.2 })
    using watch = heads.watch(ctx.tenantId)
    const listening = async () => {
      const rows = await db`
        select 1
        from pg_stat_activity
        where application_name = 'strata-listener'
          and query ilike 'listen%'
          and datname = current_database()`
      return rows.length
    }
    await waitFor(async () => (await listening()) === 1)
    const before = await currentPosition(db, ctx)
    proxy.freeze()
    await write(db, ctx)
    assert.equal(await watch.beyond(before, LONG), true)
    await waitFor(async () => {
      await write(db, ctx)
      return proxy.made() > 1
    })
    await waitFor(async () => (await listening()) >= 1)
  })
})
