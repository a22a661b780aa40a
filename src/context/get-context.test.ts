import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getContext } from '#contract/context.ts'
import {
  addTask,
  addWorkspace,
  contextClient,
  contextTenant,
  providerAt,
  startTask,
} from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { memoryAnswering, PACK } from '../../test/support/fake-memory.ts'

const db = await sharedDb()

describe('POST /context without memory', () => {
  it('answers the operational half alone when memory is not wanted or not configured', async () => {
    const { client } = await contextTenant(db)
    const unwanted = await call(client, getContext, { body: { includeMemory: false } })
    assert.deepEqual(
      [unwanted.memoryStatus, unwanted.memory, unwanted.warnings],
      ['disabled', null, []],
    )
    const missing = await call(client, getContext)
    assert.equal(missing.memoryStatus, 'disabled')
    assert.deepEqual(missing.warnings, ['context provider is not configured'])
    assert.equal(missing.memoryTraceId, null)
    assert.equal(missing.operational.project, null)
    assert.deepEqual(missing.operational.focus, { task: null, artifacts: [] })
    assert.equal(missing.freshness.memoryCursor, null)
    assert.equal(missing.freshness.currentCursor, missing.operational.eventCursor)
  })

  it('asks nobody when the caller may not read events', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const tenant = await contextTenant(db)
    const agent = await tenant.caller(['tasks.read'])
    const answer = await call(contextClient(db, agent.key, providerAt(memory.url)), getContext)
    assert.deepEqual(
      [answer.memoryStatus, answer.memory, answer.warnings.length],
      ['forbidden', null, 1],
    )
    assert.equal(memory.heard.length, 0)
  })

  it('puts the task, its run and its artifacts in focus', async () => {
    const tenant = await contextTenant(db)
    const task = await addTask(db, tenant.ctx, {
      title: 'Fix it',
      description: 'How',
      priority: 'high',
    })
    const { runId, claimId } = await startTask(db, tenant.ctx, task.id)
    for (const body of [{ task: task.publicId }, { task: task.id }, { runId }]) {
      const { operational } = await call(tenant.client, getContext, { body })
      assert.deepEqual(operational.focus.task, {
        ...task,
        title: 'Fix it',
        description: 'How',
        status: 'in_progress',
        priority: 'high',
        workspaceId: null,
        version: 2,
        activeClaimId: claimId,
      })
    }
  })

  it('shows artifacts only to readers of artifacts, the newest twenty', async () => {
    const tenant = await contextTenant(db)
    const task = await addTask(db, tenant.ctx)
    await db`
      insert into artifacts (tenant_id, id, type, name, task_id, created_by)
      select ${tenant.ctx.tenantId}, gen_random_uuid(), 'note', 'n' || n, ${task.id},
             ${tenant.ctx.actorId}
      from generate_series(1, 21) as n`
    const body = { task: task.id }
    const { operational } = await call(tenant.client, getContext, { body })
    assert.equal(operational.focus.artifacts.length, 20)
    const agent = await tenant.caller(['tasks.read'])
    const blind = await call(contextClient(db, agent.key), getContext, { body })
    assert.deepEqual(blind.operational.focus.artifacts, [])
  })

  it('refuses a focus without the right to it, or of another tenant, before anything is asked', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const foreign = await contextTenant(db)
    const task = await addTask(db, foreign.ctx)
    const { runId } = await startTask(db, foreign.ctx, task.id)
    const workspaceId = await addWorkspace(db, foreign.ctx)
    const mine = await contextTenant(db, providerAt(memory.url))
    for (const body of [
      { task: task.id },
      { task: task.publicId },
      { runId },
      { workspaceId },
      { projectId: randomUUID() },
    ]) {
      await refused(mine.client, body, 'not_found')
    }
    const agent = await mine.caller(['events.read'])
    const poor = contextClient(db, agent.key, providerAt(memory.url))
    await refused(poor, { task: task.id }, 'permission_denied')
    await refused(poor, { runId }, 'permission_denied')
    await refused(poor, { projectId: randomUUID() }, 'permission_denied')
    assert.equal(memory.heard.length, 0)
  })

  it('refuses anchors that are none, and fields that do not fit', async () => {
    const { client } = await contextTenant(db)
    for (const anchors of [
      ['nocolon'],
      ['A:b'],
      ['a:b c'],
      ['a:'],
      ['a:b', 'a:b'],
      many(11),
      [`a:${'x'.repeat(256)}`],
    ]) {
      await assert.rejects(call(client, getContext, { body: { anchors } }), {
        code: 'invalid_context_request',
      })
    }
    for (const body of [
      { maxTokens: 0 },
      { maxTokens: 1_000_001 },
      { query: 'x'.repeat(2001) },
      { strategy: 'magic' as 'graph' },
      { asOf: '2026-01-01T00:00:00' },
    ]) {
      await assert.rejects(call(client, getContext, { body }), { code: 'invalid_request' })
    }
  })
})

async function refused(client: ClientOptions, body: object, code: string): Promise<void> {
  await assert.rejects(call(client, getContext, { body }), { code }, JSON.stringify(body))
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `a:${n}`)
}
