import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, endLease, eventsOf, newSession, newTask } from '../../test/support/leases.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { claimTask } from './claim-task.ts'
import { selectActiveClaim, selectClaim } from './claim.sql.ts'
import { closeSession } from './end-session.ts'
import { taskEntity } from './lock-task.ts'
import { selectTask } from './task.sql.ts'

const db = await sharedDb()

const closeNow = (ctx: Ctx, sessionId: string) =>
  transaction(db, 'read write', (sql) => closeSession(sql, ctx, sessionId))

/** Attaches a handler at once, so that a refusal before it is looked at is not an unhandled one. */
const settled = <T>(promise: Promise<T>) => Promise.allSettled([promise]).then(([result]) => result)

describe('the closing of a session', () => {
  it('makes a claim under it wait, and refuses it afterwards', async () => {
    const { ctx } = await testTenant(db)
    const sessionId = await newSession(db, ctx)
    const [held, wanted] = [await newTask(db, ctx), await newTask(db, ctx)]
    const { id } = await claimNow(db, ctx, { ref: held.id, sessionId })

    const waiting = await transaction(db, 'read write', async (sql) => {
      await closeSession(sql, ctx, sessionId)
      const claiming = settled(claimNow(db, ctx, { ref: wanted.id, sessionId }))
      await waitForWaiters(db, sql, 1)
      return { claiming }
    })

    const refused = await waiting.claiming
    assert.equal(refused.status, 'rejected')
    assert.equal((refused.reason as { code: string }).code, 'session_not_active')
    assert.equal((await selectClaim(db, ctx, id))?.endReason, 'session_closed')
    const after = await selectTask(db, ctx, wanted.id)
    assert.deepEqual([after?.status, after?.activeClaimId], ['open', null])
  })

  it('waits for a claim that is being made under it, and releases it', async () => {
    const { ctx } = await testTenant(db)
    const sessionId = await newSession(db, ctx)
    const task = await newTask(db, ctx)

    const waiting = await transaction(db, 'read write', async (sql) => {
      const { id } = await claimTask(sql, ctx, { ref: task.id, sessionId, ttlSeconds: 60 })
      const closing = settled(closeNow(ctx, sessionId))
      await waitForWaiters(db, sql, 1)
      return { id, closing }
    })

    assert.equal((await waiting.closing).status, 'fulfilled')
    const claim = await selectClaim(db, ctx, waiting.id)
    assert.deepEqual([claim?.status, claim?.endReason], ['released', 'session_closed'])
    assert.equal((await selectTask(db, ctx, task.id))?.status, 'open')
    const types = (await eventsOf(db, ctx)).map(({ type }) => type)
    assert.deepEqual(types.slice(-4), [
      'task.claimed',
      'claim.released',
      'task.updated',
      'session.closed',
    ])
  })

  it('does not wait in a circle with a claim of a task that it has to release', async () => {
    const { ctx } = await testTenant(db)
    const sessionId = await newSession(db, ctx)
    const task = await newTask(db, ctx)
    const old = await claimNow(db, ctx, { ref: task.id, sessionId })
    await endLease(db, ctx, 'claims', old.id)

    const waiting = await transaction(db, 'read write', async (sql) => {
      await lockEntities(sql, ctx, [taskEntity(task.id)])
      const claiming = settled(claimNow(db, ctx, { ref: task.id, sessionId }))
      await waitForWaiters(db, sql, 1)
      const closing = settled(closeNow(ctx, sessionId))
      await waitForWaiters(db, sql, 2)
      return { claiming, closing }
    })

    const claimed = await waiting.claiming
    assert.equal(claimed.status, 'fulfilled')
    assert.equal((await waiting.closing).status, 'fulfilled')
    assert.equal((await selectClaim(db, ctx, claimed.value.id))?.endReason, 'session_closed')
    assert.equal(await selectActiveClaim(db, ctx, task.id), undefined)
  })
})
