import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { emptyDb, sharedDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { isConnectionLoss } from './connection-loss.ts'
import { connect, transaction } from './sql.ts'
import type { Sql } from './sql.ts'

const other = await sharedDb()
const ONE = { maxConnections: 1, appName: 'test' }

async function pidOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row?.pid ?? 0
}

describe('a transaction whose connection is lost', () => {
  it('fails as such, and its pool goes on with another connection', async (t) => {
    const db = await emptyDb(t, 1)
    for (let round = 0; round < 3; round++) {
      const lost = transaction(db, 'read write', async (sql) => {
        await sql`select pg_terminate_backend(pg_backend_pid())`
      })
      await assert.rejects(lost, isConnectionLoss)
      assert.ok((await transaction(db, 'read only', pidOf)) > 0)
    }
  })

  it('sends nothing more when the work goes on between two queries', async (t) => {
    const db = await emptyDb(t, 2)
    const lost = transaction(db, 'read write', async (sql) => {
      const pid = await pidOf(sql)
      const [row] = await db<{ done: boolean }[]>`select pg_terminate_backend(${pid}) as done`
      assert.equal(row?.done, true)
      await waitFor(async () => {
        const rows = await db`select 1 from pg_stat_activity where pid = ${pid}`
        return rows.length === 0
      })
      await sql`select 1`
      return 'never'
    })
    await assert.rejects(lost, isConnectionLoss)
    const pids = await Promise.all([1, 2, 3].map(() => transaction(db, 'read write', pidOf)))
    assert.ok(pids.every((pid) => pid > 0))
  })

  it('is not taken for the loss of another', async (t) => {
    const db = await emptyDb(t, 1)
    const gone = Object.assign(new Error('elsewhere'), { code: 'ECONNRESET' })
    await assert.rejects(
      transaction(db, 'read write', () => Promise.reject(gone)),
      /elsewhere/,
    )
    assert.ok((await transaction(db, 'read only', pidOf)) > 0)
  })

  it('is told from every other failure', async () => {
    await assert.rejects(
      transaction(other, 'read write', (sql) => sql`select 1 / 0`),
      (error) => !isConnectionLoss(error),
    )
    await assert.rejects(
      transaction(other, 'read write', () => Promise.reject(new Error('mine'))),
      /mine/,
    )
    const noFile = await readFile('/not/there').catch((error: unknown) => error)
    assert.equal(isConnectionLoss(noFile), false)
    const nowhere = connect(
      { socket: '/not/there', port: 1, user: '', password: '', database: '' },
      ONE,
    )
    await assert.rejects(nowhere`select 1`, isConnectionLoss)
    await nowhere.end()
  })
})
