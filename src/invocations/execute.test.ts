import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { updatePrincipal } from '#contract/org.ts'
import type { Route } from '#contract/route.ts'
import * as calls from '#contract/skill-invocations.ts'
import { updateSkill } from '#contract/skills.ts'
import { reapInvocations } from './reap-invocations.ts'
import { callStage, claimed, endBackoff, seen } from '../../test/support/calls.ts'
import { ownDb, sharedDb } from '../../test/support/db.ts'
import { endLease, eventsOf } from '../../test/support/leases.ts'
import { codeOf } from '../../test/support/two-trees.ts'

const db = await sharedDb()

const THRICE = {
  retryPolicy: { maxAttempts: 3, backoffSeconds: 600 },
  idempotency: 'natural',
} as const
const AT_ONCE = { ...THRICE, retryPolicy: { maxAttempts: 2, backoffSeconds: 0 } } as const

const FENCED: readonly [Route, object][] = [
  [calls.heartbeatInvocation, {}],
  [calls.completeInvocation, { outputs: {} }],
  [calls.failInvocation, { error: { message: 'no luck' } }],
]

/** What each write of an executor answers. */
async function codesOf(who: ClientOptions, id: string, fencingToken: number): Promise<string[]> {
  const codes: string[] = []
  for (const [route, more] of FENCED) {
    codes.push(await codeOf(who, route, { params: { id }, body: { fencingToken, ...more } }))
  }
  return [...new Set(codes)]
}

describe('every write of an executor', () => {
  it('is refused unless it shows the live lease of the newest attempt, and changes nothing', async () => {
    const { ctx, invoke, newExecutor } = await callStage(db, { contract: AT_ONCE })
    const { id } = await invoke()
    const [ann, bob] = [await newExecutor(), await newExecutor()]
    const stale = ['stale_invocation_lease']
    assert.deepEqual(await codesOf(ann, id, 1), stale)
    await claimed(ann, id)
    assert.deepEqual(await codesOf(ann, id, 2), stale)
    assert.deepEqual(await codesOf(bob, id, 1), stale)
    await endLease(db, ctx, 'skill_invocations', id)
    assert.deepEqual(await codesOf(ann, id, 1), stale)
    const second = await claimed(bob, id)
    assert.equal(second.fencingToken, 2)
    assert.deepEqual(await codesOf(ann, id, 1), stale)
    assert.deepEqual(await codesOf(ann, id, 2), stale)
    const journal = (await eventsOf(db, ctx)).filter(({ entityId }) => entityId === id)
    assert.deepEqual(
      journal.map(({ type }) => type.replace('skill_invocation.', '')),
      ['requested', 'claimed', 'retry_scheduled', 'claimed'],
    )
    const held = { params: { id }, body: { fencingToken: 2 } }
    const beat = await call(bob, calls.heartbeatInvocation, held)
    assert.ok(Date.parse(beat.leaseExpiresAt ?? '') >= Date.parse(second.leaseExpiresAt ?? ''))
    assert.equal((await call(bob, calls.completeInvocation, held)).status, 'succeeded')
    assert.deepEqual(await codesOf(bob, id, 2), stale)
  })

  it('is refused after the call was called off', async () => {
    const { caller, invoke, newExecutor } = await callStage(db)
    const { id } = await invoke()
    const executor = await newExecutor()
    await claimed(executor, id)
    const body = { reason: 'not needed' }
    await call(caller, calls.cancelInvocation, { params: { id }, body })
    assert.deepEqual(await codesOf(executor, id, 1), ['stale_invocation_lease'])
    assert.equal((await seen(executor, id)).reason, 'not needed')
    const claim = { params: { id } }
    assert.equal(await codeOf(executor, calls.claimInvocation, claim), 'invocation_not_active')
  })
})

describe('an attempt that fails', () => {
  it('is followed by another after the backoff, as often as the contract allows', async () => {
    const { ctx, invoke, newExecutor } = await callStage(db, { contract: THRICE })
    const { id } = await invoke()
    const executor = await newExecutor()
    const fail = (fencingToken: number) =>
      call(executor, calls.failInvocation, {
        params: { id },
        body: { fencingToken, error: { message: `attempt ${fencingToken}` }, retryable: true },
      })
    for (const attempt of [1, 2]) {
      await claimed(executor, id)
      const waiting = await fail(attempt)
      assert.deepEqual([waiting.status, waiting.reason], ['pending', null])
      await assert.rejects(claimed(executor, id), { code: 'invocation_not_due' })
      assert.deepEqual(await claimableIds(executor), [])
      await endBackoff(db, ctx, id)
      assert.deepEqual(await claimableIds(executor), [id])
    }
    await claimed(executor, id)
    const failed = await fail(3)
    assert.deepEqual(
      [failed.status, failed.reason, failed.error],
      ['failed', 'executor', { code: 'failed', message: 'attempt 3' }],
    )
  })

  it('is the last one unless its executor says that it may be tried again', async () => {
    const { invoke, newExecutor } = await callStage(db, { contract: THRICE })
    const { id } = await invoke()
    const executor = await newExecutor()
    await claimed(executor, id)
    const body = { fencingToken: 1, error: { message: 'never' } }
    const failed = await call(executor, calls.failInvocation, { params: { id }, body })
    assert.equal(failed.status, 'failed')
  })
})

async function claimableIds(who: ClientOptions): Promise<string[]> {
  const { items } = await call(who, calls.listInvocations, { query: { claimable: 'true' } })
  return items.map(({ id }) => id)
}

describe('the worker', () => {
  it('ends attempts whose executors are lost, and calls that wait for nobody', async (t) => {
    const own = await ownDb(t, 'control-plane')
    const again = await callStage(own, { contract: AT_ONCE })
    const once = await callStage(own)
    const twiceOutside = await callStage(own, {
      contract: { ...AT_ONCE, idempotency: 'none' },
    })
    const lost = [await again.invoke(), await once.invoke(), await twiceOutside.invoke()]
    const stages = [again, once, twiceOutside]
    for (const [index, { id }] of lost.entries()) {
      const stage = stages[index]
      if (!stage) continue
      await claimed(await stage.newExecutor(), id)
      await endLease(own, stage.ctx, 'skill_invocations', id)
    }
    const waiting = await once.invoke()
    const suspended = await callStage(own)
    const ofSuspended = await suspended.invoke()
    await call(suspended.client, updatePrincipal, {
      params: { id: suspended.caller.ctx.actorId },
      ifMatch: 1,
      body: { status: 'suspended' },
    })
    const { id: skillId } = once.skill
    const body = { status: 'disabled' as const }
    await call(once.client, updateSkill, { params: { id: skillId }, ifMatch: 1, body })
    const woken: string[] = []

    const counts = await Promise.all(
      [1, 2].map(() => reapInvocations(own, 100, (tenantId) => woken.push(tenantId))),
    )

    assert.equal(
      counts.reduce((a, b) => a + b, 0),
      5,
    )
    assert.equal(woken.length, 5)
    const askers = [...stages, once, suspended]
    const ended = [...lost, waiting, ofSuspended].map(async ({ id }, index) => {
      const { status, reason } = await seen((askers[index] ?? once).client, id)
      return [status, reason]
    })
    assert.deepEqual(await Promise.all(ended), [
      ['pending', null],
      ['failed', 'lease_expired'],
      ['pending', null],
      ['cancelled', 'skill_disabled'],
      ['cancelled', 'caller_not_active'],
    ])
    assert.equal(await reapInvocations(own, 100), 0)
  })
})

describe('a lost attempt that may have written outside', () => {
  it('is not repeated when doing it twice does it twice', async () => {
    const { withdrawal, survivesLostLease } = await import('./invocation.ts')
    const state = {
      status: 'running',
      fencingToken: 1,
      isLeaseOver: true,
      isDue: true,
      isWanted: true,
      isCallerActive: true,
      skillStatus: 'active',
      sideEffects: 'external_write',
      contract: { retryPolicy: { maxAttempts: 2, backoffSeconds: 0 }, idempotency: 'none' },
    } as const
    assert.equal(withdrawal(state), undefined)
    assert.equal(survivesLostLease(state), false)
    assert.equal(survivesLostLease({ ...state, sideEffects: 'external_read' }), true)
    const natural = { ...state.contract, idempotency: 'natural' } as const
    assert.equal(survivesLostLease({ ...state, contract: natural }), true)
    assert.equal(survivesLostLease({ ...state, contract: natural, isWanted: false }), false)
  })
})
