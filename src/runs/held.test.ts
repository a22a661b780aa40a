import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { selectLiveClaims } from '#work/claim.sql.ts'
import { selectLiveSessions } from '#work/session.sql.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, endLease, newSession, newTask } from '../../test/support/leases.ts'
import { selectActiveRuns, selectSuspendedRuns } from './run.sql.ts'
import { startRun } from './start-run.ts'

const db = await sharedDb()

describe('what a principal holds', () => {
  it('is shown with its task, newest first, and only while it is live', async () => {
    const tenant = await testTenant(db)
    const { ctx } = tenant
    const sessionId = await newSession(db, ctx)
    const [first, second] = [await newTask(db, ctx, 'first'), await newTask(db, ctx, 'second')]
    const old = await claimNow(db, ctx, { ref: first.id, sessionId })
    const { id: claimId, fencingToken } = await claimNow(db, ctx, { ref: second.id, sessionId })
    for (const [ref, fence] of [
      [first.id, { claimId: old.id, fencingToken: old.fencingToken }],
      [second.id, { claimId, fencingToken }],
    ] as const) {
      await transaction(db, 'read write', (sql) => startRun(sql, ctx, { ref, ...fence }))
    }

    const held = await selectLiveClaims(db, ctx, 10)
    assert.deepEqual(
      held.map((claim) => [claim.taskTitle, claim.taskStatus, claim.fencingToken]),
      [
        ['second', 'in_progress', 1],
        ['first', 'in_progress', 1],
      ],
    )
    assert.equal((await selectActiveRuns(db, ctx, 10)).length, 2)
    assert.equal((await selectSuspendedRuns(db, ctx, 10)).length, 0)
    assert.equal((await selectLiveSessions(db, ctx, 10)).length, 1)
    const { ctx: other } = await tenant.caller(['tasks.read'])
    assert.equal((await selectLiveClaims(db, other, 10)).length, 0)

    await endLease(db, ctx, 'claims', old.id)

    assert.equal((await selectLiveClaims(db, ctx, 10)).length, 1)
    const running = await selectActiveRuns(db, ctx, 10)
    assert.deepEqual(
      running.map((run) => run.claimId),
      [claimId],
    )
    await endLease(db, ctx, 'sessions', sessionId)
    assert.equal((await selectActiveRuns(db, ctx, 10)).length, 0)
    assert.equal((await selectLiveSessions(db, ctx, 10)).length, 0)
  })
})
