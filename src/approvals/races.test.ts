import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database, Sql } from '#db/sql.ts'
import { transaction } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Entity } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { createArtifact } from '#artifacts/create-artifact.ts'
import { startRun } from '#runs/start-run.ts'
import { suspendRun } from '#runs/suspend-run.ts'
import { claimTask } from '#work/claim-task.ts'
import { taskEntity } from '#work/lock-task.ts'
import { updateTask } from '#work/update-task.ts'
import {
  approvalTenant,
  DECIDES,
  newRevision,
  newRole,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, eventsOf, newSession } from '../../test/support/leases.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { outcomes } from '../../test/support/outcomes.ts'
import { approve, cancelApproval, reject } from './decide-approval.ts'
import { requestApproval } from './request-approval.ts'

const db = await sharedDb()

type Command = (sql: Sql) => Promise<unknown>

/** Runs commands that all wait for the same lock before the first of them may go on. */
async function atOnce(
  pool: Database,
  ctx: Ctx,
  entity: Entity,
  commands: readonly Command[],
): Promise<Record<string, number>> {
  const counted = await transaction(pool, 'read write', async (holder) => {
    await lockEntities(holder, ctx, [entity])
    const counts = outcomes(commands.map((command) => transaction(pool, 'read write', command)))
    await waitForWaiters(pool, holder, commands.length)
    return { counts }
  })
  return await counted.counts
}

async function decisions(ctx: Ctx, id: string): Promise<string[]> {
  const events = await eventsOf(db, ctx)
  return events
    .filter(({ entityId, type }) => entityId === id && type !== 'approval.requested')
    .map(({ type }) => type)
}

describe('at the same moment', () => {
  it('four deciders decide an approval once', async () => {
    const { client, tenant, add, ask } = await approvalTenant(db)
    const four = [await add(DECIDES), await add(DECIDES), await add(DECIDES), await add(DECIDES)]
    const requiredRoleId = await newRole(
      client,
      four.map(({ id }) => id),
    )
    for (const verbs of [
      [approve, approve, approve, approve],
      [approve, reject, approve, reject],
      [reject, cancelApproval, approve, reject],
    ]) {
      const { id } = await ask({ taskId: await newTaskId(client), gate: true, requiredRoleId })
      const commands = four.map(({ ctx }, index): Command => {
        const verb = verbs[index] ?? approve
        return (sql) => verb(sql, ctx, { id })
      })

      const counts = await atOnce(db, tenant.ctx, { type: 'approval', id }, commands)

      assert.deepEqual(counts, { ok: 1, approval_already_decided: 3 })
      assert.equal((await decisions(tenant.ctx, id)).length, 1)
    }
  })

  it('a gate is raised and its task claimed one after the other, never half', async () => {
    const { client, tenant, agent, person } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const sessionId = await newSession(db, agent.ctx)
    const counts = await atOnce(db, tenant.ctx, taskEntity(taskId), [
      (sql) => claimTask(sql, agent.ctx, { ref: taskId, sessionId, ttlSeconds: 60 }),
      (sql) =>
        requestApproval(sql, agent.ctx, { taskId, gate: true, assignedPrincipalId: person.id }),
    ])
    const [first] = (await eventsOf(db, tenant.ctx))
      .map(({ type }) => type)
      .filter((type) => type === 'task.claimed' || type === 'approval.requested')
    assert.deepEqual(counts, first === 'task.claimed' ? { ok: 2 } : { ok: 1, approval_required: 1 })
  })

  it('nothing is approved in a revision that is not the newest', async () => {
    const { client, tenant, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const old = await newRevision(client, { taskId })
    const { id } = await ask({ taskId, artifactId: old })
    const counts = await atOnce(db, tenant.ctx, taskEntity(taskId), [
      (sql) => approve(sql, person.ctx, { id }),
      (sql) => updateTask(sql, tenant.ctx, { ref: taskId, expectedVersion: 1, title: 'Other' }),
      (sql) =>
        createArtifact(sql, tenant.ctx, {
          type: 'plan',
          name: 'Plan',
          metadata: {},
          supersedesArtifactId: old,
        }),
    ])
    const order = (await eventsOf(db, tenant.ctx))
      .slice(-(counts['ok'] ?? 0))
      .map(({ type }) => type)
    const isFirst = order[0] === 'approval.approved'
    assert.deepEqual(counts, isFirst ? { ok: 3 } : { ok: 2, version_conflict: 1 })
  })

  it('a run waits for a decision that is still to come, or learns that it was made', async () => {
    const { client, tenant, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id: claimId, fencingToken } = await claimNow(db, agent.ctx, { ref: taskId })
    const run = await transaction(db, 'read write', (sql) =>
      startRun(sql, agent.ctx, { ref: taskId, claimId, fencingToken }),
    )
    const { id } = await ask({ taskId, gate: true })
    const wait = { id: run.id, fencingToken, reason: 'sign-off', waitingForApprovalId: id }
    const counts = await atOnce(db, tenant.ctx, taskEntity(taskId), [
      (sql) => suspendRun(sql, agent.ctx, wait),
      (sql) => approve(sql, person.ctx, { id }),
    ])
    const types = (await eventsOf(db, tenant.ctx)).map(({ type }) => type)
    const [suspendedAt, approvedAt] = [
      types.indexOf('run.suspended'),
      types.indexOf('approval.approved'),
    ]
    assert.ok(approvedAt > 0)
    assert.deepEqual(
      counts,
      suspendedAt === -1 ? { ok: 1, approval_already_decided: 1 } : { ok: 2 },
    )
    assert.ok(suspendedAt < approvedAt)
  })
})
