import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { newId } from '#lib/id.ts'
import { selectTask } from '#work/task.sql.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { newTask } from '../../test/support/leases.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { lockEntities, lockThen, tryLockEntity } from './append.ts'
import type { Entity } from './append.ts'

const db = await sharedDb()

describe('locks of entities', () => {
  it('are held before anything is read that was asked for with them', async () => {
    const { ctx } = await testTenant(db)
    const { id } = await newTask(db, ctx, 'before')
    const task = { type: 'task', id }
    const { read } = await db.begin(async (sql) => {
      await lockEntities(sql, ctx, [task])
      const waiting = transaction(db, 'read write', (other) =>
        lockThen(
          () => lockEntities(other, ctx, [task]),
          () => selectTask(other, ctx, id),
        ),
      )
      await waitForWaiters(db, sql, 1)
      await sql`update tasks set title = 'after' where tenant_id = ${ctx.tenantId} and id = ${id}`
      return { read: waiting }
    })

    assert.equal((await read)?.title, 'after')
  })

  it('are taken in one order, however they are named, so that nobody waits in a circle', async () => {
    const { ctx } = await testTenant(db)
    const [low, middle, high] = [newId(), newId(), newId()]
      .toSorted()
      .map((id) => ({ type: 'task', id })) as [Entity, Entity, Entity]
    const backwards = [high, { ...middle, id: middle.id.toUpperCase() }, middle, low]
    const { locked } = await db.begin(async (sql) => {
      await lockEntities(sql, ctx, [middle])
      const waiting = transaction(db, 'read write', (other) => lockEntities(other, ctx, backwards))
      await waitForWaiters(db, sql, 1)
      assert.equal(await tryLockEntity(sql, ctx, low), false)
      assert.equal(await tryLockEntity(sql, ctx, high), true)
      return { locked: waiting }
    })
    await locked
  })

  it('may be none', async () => {
    const { ctx } = await testTenant(db)
    await transaction(db, 'read write', (sql) => lockEntities(sql, ctx, []))
  })
})
