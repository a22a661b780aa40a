import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { getHarnessContext } from '#contract/context.ts'
import { createProject } from '#contract/projects.ts'
import { getRunContext } from '#contract/run-context.ts'
import { startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { updateSkill } from '#contract/skills.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { newChild, parentRun, under, workAsChild } from '../../test/support/children.ts'
import { testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { givenSkill, newSkill } from '../../test/support/skills.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const app = wholeApp(db, null)

/** A person with a workspace, and skills over two protocols: everywhere, there, and one that is disabled. */
async function skilled() {
  const tenant = await testTenant(db)
  const client = testClient(app, tenant.key)
  const { id: workspaceId } = await call(client, createWorkspace, {
    body: { slug: 'app', name: 'App' },
  })
  const principalId = tenant.ctx.actorId
  const give = (name: string, protocol: 'http' | 'mcp', at: string | null = null) => {
    const { contract, ...body } = newSkill(name)
    const skill = { ...body, contract: { ...contract, implementation: { protocol } } }
    return givenSkill(client, skill, { principalId, workspaceId: at })
  }
  await give('deploy', 'http')
  await give('lint', 'mcp', workspaceId)
  const { id } = await give('gone', 'http')
  await call(client, updateSkill, { params: { id }, ifMatch: 1, body: { status: 'disabled' } })
  return { tenant, client, workspaceId }
}

async function open(client: ClientOptions, capabilities: string[]) {
  const harness = { type: 'test', capabilities }
  return await call(client, openSession, { body: { clientName: 'test', harness } })
}

const seen = (views: readonly { name: string; executable: boolean }[]) =>
  views.map(({ name, executable }) => [name, executable])

describe('the skills in the context of a harness', () => {
  it('are all that the caller has anywhere, executable as far as the session goes', async () => {
    const { client } = await skilled()
    const ask = async (sessionId?: string) => {
      const query = sessionId === undefined ? {} : { sessionId }
      return seen((await call(client, getHarnessContext, { query })).skills)
    }
    assert.deepEqual(await ask(), [
      ['lint', true],
      ['deploy', true],
    ])
    const first = await open(client, ['skills.protocol.mcp'])
    assert.deepEqual(await ask(), [
      ['lint', true],
      ['deploy', false],
    ])
    await open(client, ['skills.protocol.http', 'resume'])
    assert.deepEqual(await ask(), [
      ['lint', false],
      ['deploy', true],
    ])
    assert.deepEqual((await ask(first.id))[0], ['lint', true])
  })
})

describe('the skills in the context of a run', () => {
  it('are what its holder can call at the place of the task, whoever asks', async () => {
    const { tenant, client, workspaceId } = await skilled()
    const reader = testClient(app, (await tenant.caller(['tasks.read'])).key)
    const start = async (title: string, at: string | null, capabilities: string[]) => {
      const session = await open(client, capabilities)
      const task = await call(client, createTask, { body: { title, workspaceId: at } })
      const params = { ref: task.id }
      const body = { sessionId: session.id }
      const claim = await call(client, claimTask, { params, body })
      const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
      return await call(client, startRun, { params, body: fence })
    }
    const ask = async ({ id }: { id: string }) =>
      seen((await call(reader, getRunContext, { params: { id } })).skills)
    const outside = await start('outside', null, [])
    const inside = await start('inside', workspaceId, [])
    const overMcp = await start('over mcp', workspaceId, ['skills.protocol.mcp'])

    assert.deepEqual(await ask(outside), [['deploy', true]])
    assert.deepEqual(await ask(inside), [
      ['lint', true],
      ['deploy', true],
    ])
    assert.deepEqual(await ask(overMcp), [['lint', true]])
    const governance = { allowedSkillProtocols: ['http'] }
    await call(client, createProject, { body: { workspaceId, config: { governance } } })
    assert.deepEqual(await ask(inside), [['deploy', true]])
    assert.deepEqual(await ask(overMcp), [])
  })

  it('are for a child no more than its handle grants', async () => {
    const { client } = await skilled()
    const parent = await parentRun(client)
    const ask = async (id: string) =>
      seen((await call(client, getRunContext, { params: { id } })).skills)
    for (const { skills, expected } of [
      { skills: ['lint'], expected: [] },
      { skills: ['deploy', 'lint'], expected: [['deploy', true]] },
    ]) {
      const child = await newChild(client, parent, { grant: { skills } })
      const { run } = await workAsChild(under(client, child.handleToken), child.taskId)
      assert.deepEqual(await ask(run.id), expected)
    }
    assert.deepEqual(await ask(parent.run.id), [['deploy', true]])
  })
})
