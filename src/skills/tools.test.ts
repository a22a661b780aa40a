import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import * as projects from '#contract/projects.ts'
import { openSession } from '#contract/sessions.ts'
import * as skills from '#contract/skills.ts'
import { createTask, getClaimability, listAvailableWork } from '#contract/tasks.ts'
import * as tools from '#contract/tools.ts'
import { newChild, parentRun, under } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { givenSkill, newSkill } from '../../test/support/skills.ts'
import { codeOf, twoTrees } from '../../test/support/two-trees.ts'

const db = await sharedDb()

async function stage() {
  const here = await twoTrees(db)
  const { client, clientOf, agent, agentId } = here
  const give = (name: string, workspaceId: string | null = null, changes: object = {}) =>
    givenSkill(client, newSkill(name, changes), { principalId: agentId, workspaceId })
  return { ...here, own: clientOf(agent.key), give }
}

type Query = { workspaceId?: string; sessionId?: string; q?: string }

async function names(who: ClientOptions, query: Query = {}): Promise<string[]> {
  return (await call(who, tools.listTools, { query })).items.map(({ name }) => name)
}

async function against(who: ClientOptions, query: Query = {}) {
  const { items } = await call(who, tools.listTools, {
    query: { ...query, includeUnavailable: 'true' },
  })
  return Object.fromEntries(items.map(({ name, reasons }) => [name, reasons]))
}

const disable = async (client: ClientOptions, { id }: { id: string }) => {
  const { rowVersion: ifMatch } = await call(client, skills.getSkill, { params: { id } })
  await call(client, skills.updateSkill, { params: { id }, ifMatch, body: { status: 'disabled' } })
}

describe('the tools of a caller', () => {
  it('are the skills it was given, where they were given and below', async () => {
    const { client, own, give, root, leaf, other } = await stage()
    await give('everywhere')
    await give('below', root.id)
    await call(client, skills.registerSkill, { body: newSkill('unknown') })

    assert.deepEqual(await names(own, { workspaceId: leaf.id }), ['below', 'everywhere'])
    assert.deepEqual(await names(own, { workspaceId: other.id }), ['everywhere'])
    assert.deepEqual(await names(own), ['everywhere'])
    const tool = await call(own, tools.getTool, { params: { ref: 'everywhere' } })
    assert.deepEqual(
      [tool.available, tool.reasons, tool.contract.inputs],
      [true, ['assigned_and_protocol_supported'], { type: 'object' }],
    )
    const hidden = { params: { ref: 'unknown' } }
    assert.equal(await codeOf(own, tools.getTool, hidden), 'tool_not_found')
    assert.deepEqual(await against(own), { everywhere: ['assigned_and_protocol_supported'] })
    assert.equal((await call(client, tools.getTool, hidden)).available, false)
    assert.deepEqual((await against(client))['unknown'], ['not_assigned'])
  })

  it('leave out what is disabled, and what the project does not allow', async () => {
    const { client, own, give, root, leaf } = await stage()
    await give('over-mcp', null, {
      contract: { ...newSkill('x').contract, implementation: { protocol: 'mcp' } },
    })
    await give('over-http')
    await disable(client, await give('old'))
    await call(client, projects.createProject, {
      body: { workspaceId: root.id, config: { governance: { allowedSkillProtocols: ['mcp'] } } },
    })

    assert.deepEqual(await names(own, { workspaceId: leaf.id }), ['over-mcp'])
    assert.deepEqual(await against(own, { workspaceId: leaf.id }), {
      old: ['skill_disabled', 'protocol_not_allowed_by_governance'],
      'over-http': ['protocol_not_allowed_by_governance'],
      'over-mcp': ['assigned_and_protocol_supported'],
    })
    assert.deepEqual(await names(own), ['over-http', 'over-mcp'])
  })

  it('are narrowed by what the harness declares, in its newest live session or the one named', async () => {
    const { own, give } = await stage()
    await give('over-http')
    const open = (capabilities: string[]) =>
      call(own, openSession, {
        body: { clientName: 'test', harness: { type: 'test', capabilities } },
      })
    const silent = await open(['resume'])
    assert.deepEqual(await names(own), ['over-http'])
    await open(['skills.protocol.mcp'])
    assert.deepEqual(await names(own), [])
    assert.deepEqual(await against(own), { 'over-http': ['protocol_not_supported_by_harness'] })
    assert.deepEqual(await names(own, { sessionId: silent.id }), ['over-http'])
    const foreign = { query: { sessionId: crypto.randomUUID() } }
    assert.equal(await codeOf(own, tools.listTools, foreign), 'not_found')
  })

  it('are narrowed by a child handle, also for what asks for them', async () => {
    const { client, ctx } = await stage()
    for (const name of ['deploy', 'lint']) {
      await givenSkill(client, newSkill(name), { principalId: ctx.actorId })
    }
    const parent = await parentRun(client)
    const child = await newChild(client, parent, { grant: { skills: ['lint'] } })
    const bearer = under(client, child.handleToken)

    assert.deepEqual(await names(client), ['lint', 'deploy'])
    assert.deepEqual(await names(bearer), ['lint'])
    assert.deepEqual(await against(bearer), {
      lint: ['assigned_and_protocol_supported'],
      deploy: ['not_granted_by_child_handle'],
    })
    const requirements = { roles: [], capabilities: [], skills: ['deploy'] }
    const task = await call(client, createTask, { body: { title: 'Deploy', requirements } })
    const ask = async (who: ClientOptions) =>
      (await call(who, getClaimability, { params: { ref: task.id } })).reasons
    assert.deepEqual(await ask(client), [])
    assert.ok((await ask(bearer)).includes('not_eligible'))
  })

  it('are found by words, page by page, and by name in the newest version that can be called', async () => {
    const { client, own, give } = await stage()
    await give('deploy-web')
    await give('deploy-api')
    await give('lint', null, { description: 'Checks what is about to be DEPLOYED' })
    const old = await give('sign')
    const next = await give('sign', null, { version: '2.0.0' })
    const of = async (ref: string) => (await call(own, tools.getTool, { params: { ref } })).version

    assert.deepEqual(await names(own, { q: 'Deploy' }), ['lint', 'deploy-api', 'deploy-web'])
    assert.deepEqual(await names(own, { q: 'deploy web' }), ['deploy-web'])
    const query = { q: 'deploy', limit: '2' }
    const first = await call(own, tools.listTools, { query })
    const second = await call(own, tools.listTools, {
      query: { ...query, cursor: first.nextCursor ?? '' },
    })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ name }) => name),
      ['lint', 'deploy-api', 'deploy-web'],
    )
    assert.deepEqual([second.nextCursor, second.viewHash], [null, first.viewHash])
    assert.deepEqual(
      [await of('sign'), await of('sign@1.0.0'), await of(old.id)],
      ['2.0.0', '1.0.0', '1.0.0'],
    )
    await disable(client, next)
    assert.equal(await of('sign'), '1.0.0')
    assert.equal(await of('sign@2.0.0'), '2.0.0')
  })

  it('have one hash as long as they are the same, which saves asking again', async () => {
    const { client, own, give, agentId } = await stage()
    const { id } = await give('deploy')
    const ask = async (known = '"other"') => {
      const headers = { 'if-none-match': known }
      const response = await send(own, tools.listTools, { headers })
      return {
        status: response.status,
        etag: response.headers.get('etag') ?? '',
        text: await response.text(),
      }
    }
    const first = await ask()
    assert.equal(first.status, 200)
    assert.equal(first.etag, `"${(JSON.parse(first.text) as { viewHash: string }).viewHash}"`)
    assert.deepEqual(await ask(`"x", W/${first.etag}`), { ...first, status: 304, text: '' })
    const described = { description: 'Deploys' }
    await call(client, skills.updateSkill, { params: { id }, ifMatch: 1, body: described })
    const second = await ask(first.etag)
    assert.equal(second.status, 200)
    const body = { principalId: agentId }
    await call(client, skills.revokeSkill, { params: { id }, body })
    const third = await ask(second.etag)
    assert.equal(third.status, 200)
    assert.equal(new Set([first.etag, second.etag, third.etag]).size, 3)
  })
})

describe('a task that asks for a skill', () => {
  it('is for those who have it where the task is, until it is disabled', async () => {
    const { client, own, give, root, leaf, other } = await stage()
    const skill = await give('deploy', root.id)
    const add = async (workspaceId: string, asked: string) => {
      const requirements = { roles: [], capabilities: [], skills: [asked] }
      return await call(client, createTask, {
        body: { title: 'Deploy', workspaceId, requirements },
      })
    }
    const [below, byId, elsewhere] = [
      await add(leaf.id, 'deploy'),
      await add(root.id, skill.id),
      await add(other.id, 'deploy'),
    ]
    const available = async () => (await call(own, listAvailableWork, {})).items.map(({ id }) => id)
    const session = await call(own, openSession, { body: { clientName: 'test' } })
    const claim = (ref: string) =>
      call(own, claimTask, { params: { ref }, body: { sessionId: session.id } })

    assert.deepEqual(await available(), [below.id, byId.id])
    await claim(below.id)
    await assert.rejects(claim(elsewhere.id), {
      code: 'not_eligible',
      details: { missing: [{ kind: 'skill', name: 'deploy' }], status: 403 },
    })
    await disable(client, skill)
    assert.deepEqual(await available(), [])
    assert.equal(
      await codeOf(own, claimTask, { params: { ref: byId.id }, body: { sessionId: session.id } }),
      'not_eligible',
    )
  })
})
