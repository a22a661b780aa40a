import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { isConnectionLoss } from '#db/connection-loss.ts'
import { connect } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDatabase } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { appendEvents } from './append.ts'
import { ORIGIN } from './cursor.ts'
import { guardJournal } from './journal-guard.ts'
import { readEvents } from './read.ts'

const GUARD_LOCK = 0x00c0_047f

/** A database whose journal has a tenant's first events, and nobody connected to it but an admin. */
async function journal(t: TestContext) {
  const { address } = await ownDatabase(t, 'control-plane')
  const pool = (role: 'app' | 'superuser') =>
    connect(address(role), { maxConnections: 4, appName: 'test' })
  const open = () => {
    const db = pool('app')
    return { db, [Symbol.asyncDispose]: () => db.end({ timeout: 1 }) }
  }
  await using first = open()
  const { ctx } = await testTenant(first.db)
  assert.deepEqual(await guardJournal(first.db), { journalEpoch: 1, epochBumped: false })
  const admin = pool('superuser')
  t.after(() => admin.end({ timeout: 1 }))
  await admin`select 1`
  return { open, ctx, admin }
}

/** An event as a restore brings it: of a transaction that this server has yet to count up to. */
async function restoreEvent(db: Database, { tenantId }: Ctx, ahead: string): Promise<string> {
  const id = newId()
  await db`
    insert into events
      (tenant_id, journal_epoch, tx_id, id, type, entity_type, entity_id, entity_version, payload)
    select ${tenantId}, journal_epoch,
           (pg_current_xact_id()::text::numeric + ${ahead}::numeric)::text::xid8,
           ${id}, 'task.completed', 'task', ${newId()}, 1, '{}'
    from journal_state`
  return id
}

async function append(db: Database, ctx: Ctx): Promise<string> {
  const entityId = newId()
  const [id = ''] = await db.begin((sql) =>
    appendEvents(sql, ctx, [
      {
        type: 'workspace.archived',
        payload: { slug: 'old' },
        entityType: 'workspace',
        entityId,
        entityVersion: 1,
        workspaceId: entityId,
      },
    ]),
  )
  return id
}

describe('guardJournal', () => {
  it('changes nothing when the journal and its server belong together, however often', async (t) => {
    const { open, ctx } = await journal(t)
    for (let start = 0; start < 2; start += 1) {
      await using one = open()
      await append(one.db, ctx)
      assert.deepEqual(await guardJournal(one.db), { journalEpoch: 1, epochBumped: false })
    }
  })

  it('begins a new epoch when stored transactions are ahead of the server, and hides nothing', async (t) => {
    const { open, ctx, admin } = await journal(t)
    await admin.end()
    await using one = open()
    const restored = await restoreEvent(one.db, ctx, '5000000000')
    const before = await readEvents(one.db, ctx, { after: ORIGIN, limit: 200 })
    assert.ok(!before.events.some(({ id }) => id === restored), 'it looks unfinished')

    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: true })

    const later = await append(one.db, ctx)
    const reader = { after: ORIGIN, limit: 200 }
    await waitFor(async () => {
      const { events } = await readEvents(one.db, ctx, reader)
      return events.at(-1)?.id === later
    })
    const { events } = await readEvents(one.db, ctx, reader)
    assert.equal(events.at(-2)?.id, restored)
    const cursor = before.next
    const rest = await readEvents(one.db, ctx, { after: cursor, limit: 200 })
    assert.deepEqual(
      rest.events.map(({ id }) => id),
      [restored, later],
    )
    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: false })
  })

  it('begins a new epoch on another cluster, also one that has counted further', async (t) => {
    const { open, admin } = await journal(t)
    const [state] = await admin`select system_identifier from journal_state`
    assert.match(String(state?.['systemIdentifier']), /^\d+$/)
    await admin`update journal_state set system_identifier = '1'`
    await admin.end()
    await using one = open()

    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: true })
    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: false })
  })

  it('refuses with the remedy while somebody else is connected, and changes nothing', async (t) => {
    const { open, ctx, admin } = await journal(t)
    await using one = open()
    await restoreEvent(one.db, ctx, '1000000')
    const stateOf = async () => [...(await admin`select * from journal_state`)]
    const before = await stateOf()

    await assert.rejects(guardJournal(one.db), {
      name: 'StartError',
      message: /restored.*stop every other process.*physical backup/,
    })

    assert.deepEqual(await stateOf(), before)
    await admin.end()
    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: true })
  })

  it('waits for whoever is just leaving', async (t) => {
    const { open, ctx, admin } = await journal(t)
    await using one = open()
    await restoreEvent(one.db, ctx, '1000000')
    const staying = admin`select pg_sleep(0.3)`.then(() => admin.end())

    assert.deepEqual(await guardJournal(one.db), { journalEpoch: 2, epochBumped: true })
    await staying
  })

  it('survives the loss of its connection while it waits', async (t) => {
    const { open } = await journal(t)
    await using holder = open()
    await using one = open()
    await holder.db.begin(async (sql) => {
      await sql`select pg_advisory_xact_lock(${GUARD_LOCK})`
      const lost = assert.rejects(guardJournal(one.db), isConnectionLoss)
      await waitFor(async () => {
        const rows = await sql`
          select pg_terminate_backend(pid)
          from pg_locks
          where locktype = 'advisory' and not granted and objid::bigint = ${GUARD_LOCK}
            and database = (select oid from pg_database where datname = current_database())`
        return rows.length > 0
      })
      await lost
    })
    assert.equal((await guardJournal(one.db)).epochBumped, false)
  })
})
