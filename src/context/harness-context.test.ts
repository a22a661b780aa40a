import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { getHarnessContext } from '#contract/context.ts'
import { addSession, addTask, contextTenant, startTask } from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

describe('GET /harness/context', () => {
  it('shows the live sessions, claims and runs of the caller and of nobody else', async () => {
    const tenant = await contextTenant(db)
    const other = await tenant.caller(['sessions.open', 'tasks.claim'])
    const task = await addTask(db, tenant.ctx, { title: 'Mine' })
    const { runId, claimId, sessionId } = await startTask(db, tenant.ctx, task.id)
    await startTask(db, other.ctx, (await addTask(db, tenant.ctx)).id)
    const context = await call(tenant.client, getHarnessContext, { query: { sessionId } })
    assert.deepEqual(context.protocol, { name: 'control-harness', supportedVersions: ['1', '2'] })
    assert.equal(context.tenant.id, tenant.ctx.tenantId)
    assert.equal(context.principal.id, tenant.ctx.actorId)
    assert.equal(context.session?.id, sessionId)
    assert.deepEqual(
      context.activeSessions.map(({ id }) => id),
      [sessionId],
    )
    const [claim, ...more] = context.activeClaims
    assert.equal(more.length, 0)
    assert.deepEqual(
      [claim?.id, claim?.taskId, claim?.taskPublicId, claim?.taskTitle, claim?.fencingToken],
      [claimId, task.id, task.publicId, 'Mine', 1],
    )
    assert.deepEqual(
      context.activeRuns.map(({ id }) => id),
      [runId],
    )
    assert.deepEqual(context.permissions, ['admin'])
    for (const list of ['suspendedRuns', 'roles', 'capabilities', 'skills', 'pendingApprovals']) {
      assert.deepEqual(context[list as 'roles'], [])
    }
  })

  it('leaves out what has ended', async () => {
    const tenant = await contextTenant(db)
    const task = await addTask(db, tenant.ctx)
    await startTask(db, tenant.ctx, task.id)
    await db`
      update sessions
      set expires_at = clock_timestamp() - interval '1 second'
      where tenant_id = ${tenant.ctx.tenantId}`
    const context = await call(tenant.client, getHarnessContext)
    assert.deepEqual(
      [context.session, context.activeSessions, context.activeClaims],
      [null, [], []],
    )
  })

  it('knows no session but the caller’s own', async () => {
    const tenant = await contextTenant(db)
    const other = await tenant.caller(['sessions.open'])
    for (const sessionId of [await addSession(db, other.ctx), randomUUID()]) {
      await assert.rejects(call(tenant.client, getHarnessContext, { query: { sessionId } }), {
        code: 'not_found',
      })
    }
  })
})
