import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { startRun } from '#runs/start-run.ts'
import { failRun } from '#runs/stop-run.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDb, sharedDb } from '../../test/support/db.ts'
import { claimNow, endLease, eventsOf, newSession, newTask } from '../../test/support/leases.ts'
import { claimTask } from './claim-task.ts'
import { selectClaim, selectLiveClaims } from './claim.sql.ts'
import { heartbeatClaim } from './heartbeat-claim.ts'
import { heartbeatSession } from './heartbeat-session.ts'
import { reapExpired } from './reap-expired.ts'
import { reclaimClaim } from './reclaim-claim.ts'
import { selectAvailableTasks } from './task-list.sql.ts'
import { selectTask } from './task.sql.ts'

const db = await sharedDb()

async function admin(on: Database = db): Promise<Ctx> {
  return (await testTenant(on)).ctx
}

/** Two principals of one tenant, each with a session and the right to claim. */
async function twoAgents(on: Database = db) {
  const tenant = await testTenant(on)
  const { ctx: other } = await tenant.caller(['tasks.claim', 'sessions.open', 'tasks.read'])
  return { ann: tenant.ctx, bob: other }
}

describe('claimTask', () => {
  it('lets exactly one of twenty concurrent callers win', async () => {
    const ctx = await admin()
    const task = await newTask(db, ctx)
    const sessions = await Promise.all(Array.from({ length: 20 }, () => newSession(db, ctx)))

    const results = await Promise.allSettled(
      sessions.map((sessionId) => claimNow(db, ctx, { ref: task.id, sessionId })),
    )

    const won = results.filter((result) => result.status === 'fulfilled')
    assert.equal(won.length, 1)
    for (const result of results) {
      if (result.status === 'rejected') {
        assert.equal((result.reason as { code: string }).code, 'task_already_claimed')
      }
    }
    const claims = await db`
      select 1
      from claims
      where tenant_id = ${ctx.tenantId}`
    assert.equal(claims.length, 1)
    const claimed = (await eventsOf(db, ctx)).filter(({ type }) => type === 'task.claimed')
    assert.equal(claimed.length, 1)
  })

  it('gives an expired task away with a larger token, and says that the lease ended', async () => {
    const { ann, bob } = await twoAgents()
    const task = await newTask(db, ann)
    const first = await claimNow(db, ann, { ref: task.id })
    const run = await transaction(db, 'read write', (sql) =>
      startRun(sql, ann, { ref: task.id, claimId: first.id, fencingToken: 1 }),
    )
    await assert.rejects(claimNow(db, bob, { ref: task.id }), { code: 'task_already_claimed' })
    await endLease(db, ann, 'claims', first.id)

    const second = await claimNow(db, bob, { ref: task.id })

    assert.deepEqual([first.fencingToken, second.fencingToken], [1, 2])
    assert.equal((await selectClaim(db, ann, first.id))?.status, 'expired')
    assert.equal((await selectTask(db, ann, task.id))?.activeClaimId, second.id)
    const types = (await eventsOf(db, ann)).map(({ type }) => type)
    assert.deepEqual(types.slice(-3), ['claim.expired', 'run.failed', 'task.claimed'])
    const late = await transaction(db, 'read write', (sql) =>
      failRun(sql, ann, { id: run.id, reason: 'I was too slow' }),
    )
    assert.equal(late.reason, 'lease_expired', 'its owner may still report the failure')
    assert.equal((await selectTask(db, ann, task.id))?.activeClaimId, second.id)
  })

  it('takes a claim over when the session behind it is over', async () => {
    const { ann, bob } = await twoAgents()
    const task = await newTask(db, ann)
    const sessionId = await newSession(db, ann)
    await claimNow(db, ann, { ref: task.id, sessionId })
    await endLease(db, ann, 'sessions', sessionId)

    assert.equal((await selectLiveClaims(db, ann, 10)).length, 0)
    assert.equal((await claimNow(db, bob, { ref: task.id })).fencingToken, 2)
    await assert.rejects(claimNow(db, ann, { ref: (await newTask(db, ann)).id, sessionId }), {
      code: 'session_expired',
    })
  })

  it('offers a task whose claim ended before anybody recorded that', async () => {
    const { ann } = await twoAgents()
    const task = await newTask(db, ann)
    const page = { listing: 'work', limit: 10, after: undefined }
    const offered = async () => (await selectAvailableTasks(db, ann, { page })).map((row) => row.id)
    const claim = await claimNow(db, ann, { ref: task.id })
    assert.deepEqual(await offered(), [])

    await endLease(db, ann, 'claims', claim.id)

    assert.deepEqual(await offered(), [task.id])
  })

  it('refuses to renew what ended, and never revives it', async () => {
    const ctx = await admin()
    const sessionId = await newSession(db, ctx)
    const { id } = await claimNow(db, ctx, { ref: (await newTask(db, ctx)).id, sessionId })
    const beat = () =>
      transaction(db, 'read write', (sql) =>
        heartbeatClaim(sql, ctx, { id, fencingToken: 1, ttlSeconds: 60 }),
      )
    await beat()
    await endLease(db, ctx, 'claims', id)

    await assert.rejects(beat(), { code: 'claim_expired' })
    assert.equal((await selectClaim(db, ctx, id))?.isLive, false)

    await endLease(db, ctx, 'sessions', sessionId)
    await assert.rejects(
      transaction(db, 'read write', (sql) =>
        heartbeatSession(sql, ctx, { id: sessionId, ttlSeconds: 60 }),
      ),
      { code: 'session_expired' },
    )
  })

  it('is not impressed by a process whose clock is ten minutes ahead', async (t) => {
    const { ann, bob } = await twoAgents()
    const task = await newTask(db, ann)
    const real = Date.now()
    await claimNow(db, ann, { ref: task.id })
    t.mock.timers.enable({ apis: ['Date'], now: real + 600_000 })
    const ahead: Ctx = { ...bob, now: () => new Date() }
    const sessionId = await newSession(db, ahead)

    await assert.rejects(claimNow(db, ahead, { ref: task.id, sessionId }), {
      code: 'task_already_claimed',
    })
    const own = await claimNow(db, ahead, { ref: (await newTask(db, ann)).id, sessionId })
    assert.ok(
      own.expiresAt.getTime() - real < 120_000,
      'a lease starts at the time of the database',
    )
  })
})

describe('reapExpired', () => {
  it('records every lease that is over, once, and opens the tasks', async (t) => {
    const own = await ownDb(t, 'control-plane')
    const ctx = await admin(own)
    const sessionId = await newSession(own, ctx)
    const loneTask = await newTask(own, ctx)
    const lone = await claimNow(own, ctx, { ref: loneTask.id })
    const bound = await claimNow(own, ctx, { ref: (await newTask(own, ctx)).id, sessionId })
    const live = await claimNow(own, ctx, { ref: (await newTask(own, ctx)).id })
    await endLease(own, ctx, 'claims', lone.id)
    await endLease(own, ctx, 'sessions', sessionId)
    const woken: string[] = []

    const results = await Promise.all(
      [1, 2, 3].map(() => reapExpired(own, 100, (tenantId) => woken.push(tenantId))),
    )

    const total = (key: 'claims' | 'sessions') => results.reduce((sum, one) => sum + one[key], 0)
    assert.deepEqual([total('claims'), total('sessions')], [1, 1])
    assert.deepEqual(woken, [ctx.tenantId, ctx.tenantId])
    const statusOf = async (id: string) => (await selectClaim(own, ctx, id))?.status
    assert.deepEqual(await Promise.all([lone.id, bound.id, live.id].map(statusOf)), [
      'expired',
      'expired',
      'active',
    ])
    assert.equal((await selectTask(own, ctx, loneTask.id))?.status, 'open')
    const events = await eventsOf(own, ctx)
    assert.equal(events.filter(({ type }) => type === 'claim.expired').length, 2)
    assert.equal(events.filter(({ type }) => type === 'session.expired').length, 1)
    const reaped = events.find(({ type }) => type === 'session.expired')
    assert.equal(reaped?.actorId, null, 'nobody asked for it')
    assert.deepEqual(await reapExpired(own, 100), { claims: 0, sessions: 0 })
  })

  it('never takes a task away from who claims it at the same instant', async (t) => {
    const own = await ownDb(t, 'control-plane')
    const { ann, bob } = await twoAgents(own)
    const sessionId = await newSession(own, bob)
    for (let round = 0; round < 100; round += 1) {
      const task = await newTask(own, ann)
      const first = await claimNow(own, ann, { ref: task.id })
      await endLease(own, ann, 'claims', first.id)

      const [second] = await Promise.all([
        claimNow(own, bob, { ref: task.id, sessionId }),
        reapExpired(own, 100),
        reapExpired(own, 100),
      ])

      assert.equal(second.fencingToken, 2)
      const after = await selectTask(own, ann, task.id)
      assert.deepEqual([after?.status, after?.activeClaimId], ['in_progress', second.id])
    }
    const events = await eventsOf(own, ann)
    assert.equal(events.filter(({ type }) => type === 'claim.expired').length, 100)
  })

  it('does by hand for one claim what the reaper does for all', async () => {
    const ctx = await admin()
    const task = await newTask(db, ctx)
    const { id } = await claimNow(db, ctx, { ref: task.id })
    const reclaim = () => transaction(db, 'read write', (sql) => reclaimClaim(sql, ctx, id))
    await assert.rejects(reclaim(), { code: 'claim_not_expired' })
    await endLease(db, ctx, 'claims', id)

    assert.equal((await reclaim()).status, 'expired')
    assert.equal((await reclaim()).status, 'expired', 'a repeat changes nothing')
    assert.equal((await selectTask(db, ctx, task.id))?.status, 'open')
  })
})

describe('a new claim', () => {
  it('cannot exist beside an active one, whatever the code does', async () => {
    const ctx = await admin()
    const task = await newTask(db, ctx)
    const { sessionId } = await claimNow(db, ctx, { ref: task.id })
    await assert.rejects(
      db`
        insert into claims
          (tenant_id, id, task_id, session_id, principal_id, fencing_token, ttl_seconds, expires_at)
        values
          (${ctx.tenantId}, ${crypto.randomUUID()}, ${task.id}, ${sessionId}, ${ctx.actorId}, 9, 10,
           clock_timestamp())`,
      { constraint_name: 'one_active_claim_per_task' },
    )
    await assert.rejects(
      transaction(db, 'read write', (sql) =>
        claimTask(sql, ctx, { ref: task.id, sessionId, ttlSeconds: 60 }),
      ),
      { code: 'task_already_claimed' },
    )
  })
})
