import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { testAddress, testServer } from '../../test/support/server.ts'
import { waitFor } from '../../test/support/wait.ts'
import { poolOf } from './pool.ts'
import type { PoolObserver } from './pool.ts'
import { connect, transaction } from './sql.ts'

function watchedPool(t: TestContext, maxConnections: number) {
  const waits: number[] = []
  const ended: string[] = []
  const observer: PoolObserver = {
    acquired: (seconds) => void waits.push(seconds),
    transaction: async (mode, run) =>
      await run().finally(() => {
        ended.push(mode)
      }),
  }
  const address = testAddress(testServer(), 'postgres', 'app')
  const db = connect(address, { maxConnections, appName: 'test', observer })
  t.after(() => db.end({ timeout: 1 }))
  return { db, waits, ended, demand: () => poolOf(db)?.demand }
}

describe('a watched pool', () => {
  it('knows what is asked of it: transactions, single queries, and those that wait', async (t) => {
    const { db, waits, ended, demand } = watchedPool(t, 2)
    assert.equal(demand(), 0)
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    const held = gates.map(({ promise }) => transaction(db, 'read only', () => promise))
    const single = db`select 1`.then((rows) => rows.length)
    await waitFor(() => waits.length === 2)
    assert.equal(demand(), 4)
    for (const gate of gates) gate.resolve()
    await Promise.all([...held, single])
    assert.equal(demand(), 0)
    assert.deepEqual([waits.length, ended.length], [3, 3])
  })

  it('forgets what failed, and never counts what does not run', async (t) => {
    const { db, ended, demand } = watchedPool(t, 2)
    await assert.rejects(async () => await db`select 1 / 0`)
    await assert.rejects(transaction(db, 'read write', async (sql) => await sql`select 1 / 0`))
    const fragment = db`and true`
    const [row] = await db<{ two: number }[]>`select 2 as two where true ${fragment} ${db``}`
    assert.equal(row?.two, 2)
    assert.equal(demand(), 0)
    assert.deepEqual(ended, ['read write'])
  })

  it('is the same database as without a watch', async (t) => {
    const { db } = watchedPool(t, 1)
    const name = 'one'
    const rows = await db`select ${1}::int as ${db(name)}, ${db.json({ a: 1 })}::jsonb as json`
    assert.deepEqual([...rows], [{ one: 1, json: { a: 1 } }])
    assert.deepEqual([...(await db.unsafe('select 1 as one'))], [{ one: 1 }])
    assert.equal(db.options.max, 1)
  })
})
