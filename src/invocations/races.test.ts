import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { compileSchema } from '#lib/json-schema.ts'
import { callStage, seen } from '../../test/support/calls.ts'
import { ownDb, sharedDb } from '../../test/support/db.ts'
import { endLease, eventsOf } from '../../test/support/leases.ts'
import { claimInvocation } from './claim-invocation.ts'
import { completeInvocation } from './complete-invocation.ts'
import { reapInvocations } from './reap-invocations.ts'

const db = await sharedDb()

const AT_ONCE = {
  retryPolicy: { maxAttempts: 10, backoffSeconds: 0 },
  idempotency: 'natural' as const,
}

const claimAs = (own: Database, ctx: Ctx, id: string) =>
  transaction(own, 'read write', (sql) => claimInvocation(sql, ctx, { id }))

describe('one call and many executors', () => {
  it('is begun by exactly one of twenty', async () => {
    const { ctx, invoke, newExecutor } = await callStage(db)
    const { id } = await invoke()
    const executors = await Promise.all(Array.from({ length: 20 }, newExecutor))

    const outcomes = await Promise.allSettled(
      executors.map((executor) => claimAs(db, executor.ctx, id)),
    )

    const winners = outcomes.filter(({ status }) => status === 'fulfilled')
    const codes = outcomes.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as { code: string }).code] : [],
    )
    assert.equal(winners.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: 19 }, () => 'invocation_already_claimed'),
    )
    const claims = (await eventsOf(db, ctx)).filter(
      ({ type }) => type === 'skill_invocation.claimed',
    )
    assert.equal(claims.length, 1)
  })

  it('has one next attempt, whether the worker or an executor finds the last one lost', async (t) => {
    const own = await ownDb(t, 'control-plane')
    const { ctx, client, invoke, newExecutor } = await callStage(own, { contract: AT_ONCE })
    const { id } = await invoke()
    const [ann, bob] = [await newExecutor(), await newExecutor()]
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await claimAs(own, ann.ctx, id)
      await endLease(own, ctx, 'skill_invocations', id)
      const [, taken] = await Promise.allSettled([
        reapInvocations(own, 100),
        claimAs(own, bob.ctx, id),
        transaction(own, 'read write', (sql) =>
          completeInvocation(
            sql,
            ann.ctx,
            { id, fencingToken: 2 * attempt - 1, outputs: {} },
            compileSchema,
          ),
        ),
      ])
      assert.equal(taken.status, 'fulfilled')
      const { status, fencingToken, executorId } = await seen(client, id)
      assert.deepEqual(
        [status, fencingToken, executorId],
        ['running', 2 * attempt, bob.ctx.actorId],
      )
      if (attempt === 5) break
      await endLease(own, ctx, 'skill_invocations', id)
      await reapInvocations(own, 100)
    }
    const journal = (await eventsOf(own, ctx)).filter(({ entityId }) => entityId === id)
    assert.deepEqual(
      journal.map(({ entityVersion }) => entityVersion),
      journal.map((_, index) => index + 1),
    )
  })

  it('is not stolen by a process whose clock is ten minutes ahead', async (t) => {
    const { invoke, newExecutor } = await callStage(db, { contract: AT_ONCE })
    const { id } = await invoke()
    const [ann, bob] = [await newExecutor(), await newExecutor()]
    const real = Date.now()
    const held = await claimAs(db, ann.ctx, id)
    t.mock.timers.enable({ apis: ['Date'], now: real + 600_000 })
    const ahead: Ctx = { ...bob.ctx, now: () => new Date() }
    await assert.rejects(claimAs(db, ahead, id), { code: 'invocation_already_claimed' })
    t.mock.timers.reset()
    const seconds = ((held.leaseExpiresAt?.getTime() ?? 0) - real) / 1000
    assert.ok(seconds > 30 && seconds < 600, 'a lease of the timeout and 30 seconds')
  })
})
