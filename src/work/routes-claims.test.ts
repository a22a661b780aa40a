import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as runs from '#contract/runs.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin } = workClients(await sharedDb())

describe('claims', () => {
  it('are made, shown, renewed and released', async () => {
    const { client, tenant } = await admin()
    const { task, claim, fence, session } = await claimedTask(client)

    assert.equal(claim.fencingToken, 1)
    assert.equal(claim.holderId, tenant.ctx.actorId)
    const params = { id: claim.id }
    assert.deepEqual(await call(client, claims.getClaim, { params }), claim)
    const held = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.equal(held.status, 'in_progress')
    assert.equal(held.activeClaimId, claim.id)
    const { fencingToken } = fence
    const renewed = await call(client, claims.heartbeatClaim, {
      params,
      body: { fencingToken, ttlSeconds: 600 },
    })
    assert.ok(renewed.expiresAt > claim.expiresAt)
    await assert.rejects(call(client, claims.reclaimClaim, { params }), {
      code: 'claim_not_expired',
    })

    const refusal = await send(client, claims.claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    assert.equal(refusal.status, 409)
    const retryAfter = Number(refusal.headers.get('retry-after'))
    assert.ok(retryAfter > 590 && retryAfter <= 600)
    const { error } = (await refusal.json()) as { error: { code: string; details: object } }
    assert.equal(error.code, 'task_already_claimed')
    assert.deepEqual(error.details, {
      holderId: tenant.ctx.actorId,
      expiresAt: renewed.expiresAt,
      retryAfterSeconds: retryAfter,
    })

    const released = await call(client, claims.releaseClaim, { params, body: { fencingToken } })
    assert.equal(released.status, 'released')
    const free = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([free.status, free.activeClaimId], ['open', null])
    await assert.rejects(call(client, claims.releaseClaim, { params, body: { fencingToken } }), {
      code: 'claim_not_active',
    })
    const again = await call(client, claims.claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    assert.equal(again.fencingToken, 2, 'the same owner gets a new token too')
  })

  it('end with their session', async () => {
    const { client } = await admin()
    const { task, claim, session, fence } = await claimedTask(client)
    const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })

    await call(client, sessions.closeSession, { params: { id: session.id } })

    const ended = await call(client, claims.getClaim, { params: { id: claim.id } })
    assert.deepEqual([ended.status, ended.endReason], ['released', 'session_closed'])
    const failed = await call(client, runs.getRun, { params: { id: run.id } })
    assert.deepEqual([failed.status, failed.reason], ['failed', 'session_closed'])
    await assert.rejects(
      call(client, claims.claimTask, {
        params: { ref: task.id },
        body: { sessionId: session.id },
      }),
      { code: 'session_not_active' },
    )
  })
})
