import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { getContext } from '#contract/context.ts'
import { UNRESTRICTED } from '#projects/governance.ts'
import { addTask, contextClient, contextTenant, providerAt } from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { memoryAnswering, PACK } from '../../test/support/fake-memory.ts'
import { projectsOf } from '../../test/support/projects.ts'

const db = await sharedDb()

describe('a project in focus', () => {
  it('is shown with its workspaces and what is in force, each key with its layer', async () => {
    const { client, ctx } = await contextTenant(db)
    const tree = projectsOf(db, ctx)
    const top = await tree.place(null, { config: { governance: { maxRunActions: 9 } } })
    const { project, workspaceId } = await tree.place(top.workspaceId, {
      settings: { tone: 'dry' },
      ownerPrincipalId: ctx.actorId,
      startDate: '2026-01-01',
      targetDate: '2026-06-30',
    })
    const plain = await tree.addWorkspace(workspaceId)
    const nested = await tree.place(plain)
    const ask = async (includeSubprojects: boolean) => {
      const body = { projectId: project.id, includeSubprojects, includeMemory: false }
      return (await call(client, getContext, { body })).operational.project
    }
    const shown = {
      id: project.id,
      workspaceId,
      parentProjectId: top.project.id,
      templateKey: null,
      templateVersion: null,
      statusKey: 'planned',
      systemStatusCategory: 'open',
      status: 'active',
      ownerPrincipalId: ctx.actorId,
      startDate: '2026-01-01',
      targetDate: '2026-06-30',
      version: 1,
      workspaceScope: [workspaceId, plain],
      effectiveConfig: { tone: 'dry', governance: { ...UNRESTRICTED, maxRunActions: 9 } },
      configProvenance: { tone: 'profile', 'governance.maxRunActions': 'ancestor' },
    }
    assert.deepEqual(await ask(false), shown)
    const workspaceScope = [workspaceId, plain, nested.workspaceId]
    assert.deepEqual(await ask(true), { ...shown, workspaceScope })
  })

  it('is what memory is asked about, without a word of its configuration', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const { client, ctx } = await contextTenant(db, providerAt(memory.url))
    const tree = projectsOf(db, ctx)
    const root = await tree.addWorkspace()
    const { project, workspaceId } = await tree.place(root, {
      config: { agentInstructions: 'needle in the instructions', note: 'needle in the config' },
      settings: { note: 'needle in the settings' },
    })
    const task = await addTask(db, ctx, { workspaceId: root })
    const base = { projectId: project.id, includeSubprojects: true }
    for (const body of [base, { ...base, task: task.id }]) {
      assert.equal((await call(client, getContext, { body })).memoryStatus, 'ok')
    }
    const [alone, withTask] = memory.heard.map(({ body }) => body as Record<string, unknown>)
    const about = { type: 'project', id: project.id }
    assert.deepEqual([alone?.['subject'], withTask?.['subject']], [about, about])
    const caller = `principal:${ctx.actorId}`
    const focus = [`project:${project.id}`, `workspace:${workspaceId}`]
    assert.deepEqual(alone?.['scopes'], [caller, ...focus, `workspace:${root}`])
    assert.deepEqual(withTask?.['scopes'], [
      caller,
      `task:${task.id}`,
      `project:${project.id}`,
      `workspace:${root}`,
    ])
    const ephemeral = alone?.['ephemeral_context'] as Record<string, unknown>
    assert.deepEqual(ephemeral['project'], {
      id: project.id,
      workspaceId,
      statusKey: 'planned',
      systemStatusCategory: 'open',
      templateKey: null,
    })
    assert.doesNotMatch(JSON.stringify(memory.heard), /needle|governance/)
  })

  it('of another tenant, or without the right to it, is refused before memory is asked', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const other = await contextTenant(db)
    const { project } = await projectsOf(db, other.ctx).place()
    const mine = await contextTenant(db, providerAt(memory.url))
    const body = { projectId: project.id }
    await assert.rejects(call(mine.client, getContext, { body }), { code: 'not_found' })
    const own = (await projectsOf(db, mine.ctx).place()).project
    const agent = await mine.caller(['events.read', 'tasks.read'])
    const poor = contextClient(db, agent.key, providerAt(memory.url))
    const attempt = call(poor, getContext, { body: { projectId: own.id } })
    await assert.rejects(attempt, { code: 'permission_denied' })
    assert.equal(memory.heard.length, 0)
  })

  it('says how far up memory is shared with the work below it', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const { client, ctx } = await contextTenant(db, providerAt(memory.url))
    const tree = projectsOf(db, ctx)
    const root = await tree.addWorkspace()
    const { project, workspaceId } = await tree.place(root)
    const middle = await tree.addWorkspace(workspaceId)
    const leaf = await tree.addWorkspace(middle)
    const own = `principal:${ctx.actorId}`
    const expected = {
      ancestors: [leaf, middle, workspaceId, root],
      project: [leaf, middle, workspaceId],
      none: [leaf],
    } as const
    for (const memoryScopeSharing of ['ancestors', 'project', 'none'] as const) {
      await tree.configure(project.id, { governance: { memoryScopeSharing } })
      await call(client, getContext, { body: { workspaceId: leaf } })
      const asked = memory.heard.at(-1)?.body as Record<string, unknown>
      const places = expected[memoryScopeSharing].map((id) => `workspace:${id}`)
      assert.deepEqual(asked['allowed_scopes'], [own, ...places])
      assert.deepEqual(asked['scopes'], [own, ...places])
      assert.deepEqual(asked['scope'], {
        namespaces: [`tenant:${ctx.tenantId}`, `tenant:${ctx.tenantId}:ws:${root}`],
      })
    }
  })
})
