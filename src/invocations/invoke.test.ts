import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { openSession } from '#contract/sessions.ts'
import * as calls from '#contract/skill-invocations.ts'
import { updateSkill } from '#contract/skills.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { callStage, claimed, seen } from '../../test/support/calls.ts'
import { newChild, under } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { givenSkill, newSkill } from '../../test/support/skills.ts'
import { codeOf } from '../../test/support/two-trees.ts'

const db = await sharedDb()

const SERVICE = {
  inputs: {
    type: 'object',
    required: ['service'],
    additionalProperties: false,
    properties: { service: { type: 'string' } },
  },
  outputs: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
}

describe('a call of a skill', () => {
  it('waits for an executor, who hands in what the contract asks for', async () => {
    const { ctx, caller, skill, invoke, newExecutor } = await callStage(db, { contract: SERVICE })
    const invoked = await invoke({ inputs: { service: 'web' } })
    assert.deepEqual(
      [invoked.status, invoked.fencingToken, invoked.maxAttempts, invoked.invokedBy],
      ['pending', 0, 1, caller.ctx.actorId],
    )
    const executor = await newExecutor()
    const { contract, ...running } = await claimed(executor, invoked.id)
    assert.deepEqual(
      [running.status, running.fencingToken, running.executorId, running.inputs],
      ['running', 1, executor.ctx.actorId, { service: 'web' }],
    )
    assert.equal(contract.implementation.protocol, 'http')
    const params = { id: invoked.id }
    const complete = (outputs: object) =>
      call(executor, calls.completeInvocation, {
        params,
        body: { fencingToken: 1, outputs: outputs as Record<string, unknown> },
      })
    await assert.rejects(complete({ url: 7 }), {
      code: 'invalid_skill_outputs',
      details: {
        skillId: skill.id,
        errors: [{ loc: 'body.outputs.url', message: 'must be string' }],
        status: 422,
      },
    })
    assert.equal((await seen(caller, invoked.id)).status, 'running')
    await complete({ url: 'https://example.org' })
    const done = await seen(caller, invoked.id)
    assert.deepEqual(
      [done.status, done.outputs, done.leaseExpiresAt, done.availableAt],
      ['succeeded', { url: 'https://example.org' }, null, null],
    )
    const journal = (await eventsOf(db, ctx)).filter(({ entityId }) => entityId === invoked.id)
    assert.deepEqual(
      journal.map(({ type, entityVersion }) => [type, entityVersion]),
      [
        ['skill_invocation.requested', 1],
        ['skill_invocation.claimed', 2],
        ['skill_invocation.succeeded', 3],
      ],
    )
    assert.ok(!JSON.stringify(journal).includes('web'))
  })

  it('is refused for inputs that the contract does not know, with their places', async () => {
    const { ctx, skill, invoke } = await callStage(db, { contract: SERVICE })
    await assert.rejects(invoke({ inputs: { service: 7, region: 'eu' } }), (error) => {
      const { code, details } = error as { code: string; details: { errors: { loc: string }[] } }
      assert.equal(code, 'invalid_skill_inputs')
      const locs = details.errors.map(({ loc }) => loc).toSorted()
      assert.deepEqual(locs, ['body.inputs.region', 'body.inputs.service'])
      return true
    })
    await assert.rejects(invoke({ inputs: { service: `ghp_${'a1B2'.repeat(9)}` } }), {
      code: 'secret_refused',
    })
    assert.deepEqual(
      (await eventsOf(db, ctx)).filter(({ payload }) => payload['skillId'] === skill.id).length,
      1,
    )
  })

  it('needs the skill, the permissions of its contract, and a key where repeating it acts twice', async () => {
    const contract = { requiredPermissions: ['artifacts.write' as const] }
    const { tenant, client, clientOf, caller, skill, invoke } = await callStage(db, { contract })
    const stranger = clientOf((await tenant.caller(['skills.invoke'])).key)
    const input = { params: { id: skill.id } }
    assert.equal(await codeOf(stranger, calls.invokeSkill, input), 'tool_not_found')
    await assert.rejects(invoke(), {
      code: 'skill_permission_denied',
      details: { skillId: skill.id, missing: ['artifacts.write'], status: 403 },
    })
    const body = newSkill('sign', {
      contract: { ...newSkill('sign').contract, idempotency: 'required' },
    })
    const sign = await givenSkill(client, body, { principalId: caller.ctx.actorId })
    const keyed = { params: { id: sign.id } }
    assert.equal(await codeOf(caller, calls.invokeSkill, keyed), 'idempotency_key_required')
    const idempotencyKey = randomUUID()
    const first = await call(caller, calls.invokeSkill, { ...keyed, idempotencyKey })
    const again = await call(caller, calls.invokeSkill, { ...keyed, idempotencyKey })
    assert.equal(again.id, first.id)
  })

  it('is made where the skill was given, and by what the harness can speak', async () => {
    const { client, caller } = await callStage(db)
    const { id: workspaceId } = await call(client, createWorkspace, {
      body: { slug: 'app', name: 'App' },
    })
    const grant = { principalId: caller.ctx.actorId, workspaceId }
    const { id } = await givenSkill(client, newSkill('local'), grant)
    const code = (body: object) => codeOf(caller, calls.invokeSkill, { params: { id }, body })
    assert.equal(await code({}), 'tool_not_found')
    assert.equal(await code({ workspaceId }), 'ok')
    const harness = { type: 'test', capabilities: ['skills.protocol.mcp'] }
    const session = await call(caller, openSession, { body: { clientName: 'test', harness } })
    assert.equal(await code({ workspaceId }), 'tool_not_authorized')
    const silent = await call(caller, openSession, { body: { clientName: 'test' } })
    assert.equal(await code({ workspaceId, sessionId: session.id }), 'tool_not_authorized')
    assert.equal(await code({ workspaceId, sessionId: silent.id }), 'ok')
    await call(client, updateSkill, { params: { id }, ifMatch: 1, body: { status: 'disabled' } })
    assert.equal(await code({ workspaceId }), 'tool_not_authorized')
  })

  it('is under a child handle only what the handle grants', async () => {
    const { caller, skill, newRun } = await callStage(db)
    const parent = await newRun()
    const permissions = ['tasks.claim', 'skills.invoke'] as const
    const code = async (grant: object) => {
      const child = await newChild(caller, parent, { grant })
      const input = { params: { id: skill.id } }
      return await codeOf(under(caller, child.handleToken), calls.invokeSkill, input)
    }
    assert.equal(await code({ permissions: [...permissions], skills: ['deploy'] }), 'ok')
    assert.equal(await code({ permissions: [...permissions], skills: [] }), 'tool_not_authorized')
    assert.equal(await code({ permissions: ['tasks.claim'] }), 'child_grant_exceeded')
  })

  it('is seen by its caller, by executors and by nobody else', async () => {
    const { tenant, clientOf, caller, invoke, newExecutor } = await callStage(db)
    const { id } = await invoke()
    const other = clientOf((await tenant.caller(['skills.invoke', 'org.read'])).key)
    const executor = await newExecutor()
    assert.equal(await codeOf(other, calls.getInvocation, { params: { id } }), 'not_found')
    assert.equal(await codeOf(other, calls.cancelInvocation, { params: { id } }), 'not_found')
    assert.equal(
      await codeOf(executor, calls.cancelInvocation, { params: { id } }),
      'permission_denied',
    )
    const listed = async (who: typeof executor | typeof other) =>
      (await call(who, calls.listInvocations, {})).items.length
    assert.deepEqual([await listed(caller), await listed(executor), await listed(other)], [1, 1, 0])
    assert.equal(
      (await call(caller, calls.cancelInvocation, { params: { id } })).status,
      'cancelled',
    )
    const again = { params: { id } }
    assert.equal(await codeOf(caller, calls.cancelInvocation, again), 'invocation_not_active')
  })
})
