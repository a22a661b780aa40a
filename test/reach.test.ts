import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { createApiKey, getMe, updatePrincipal } from '#contract/org.ts'
import type { Route } from '#contract/route.ts'
import { createTask, getTask } from '#contract/tasks.ts'
import { createWorkspace, getWorkspaceTree } from '#contract/workspaces.ts'
import { testClient } from './support/client.ts'
import { providerAt } from './support/context.ts'
import { testTenant } from './support/ctx.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'
import { deliverTo } from './support/deliver.ts'
import { testMemory } from './support/memory.ts'
import type { TenantCall } from './support/tenant-call.ts'
import { TENANT_CASES } from './support/tenant-cases.ts'
import { codeOf } from './support/two-trees.ts'
import { wholeApp } from './support/whole.ts'
import { buildWorld, uuidsIn } from './support/world.ts'

const ID = /^(TASK-\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const db = await sharedDb()
const memory = testMemory(await sharedMemoryDb())
const provider = providerAt('http://memory.test', { fetch: memory.fetch, timeoutSeconds: 20 })
const app = wholeApp(db, provider)
const tenant = await testTenant(db)
const outside = await buildWorld(db, app, 5, tenant)
const inside = await buildWorld(db, app, 3, tenant)
await call(outside.client, createTask, { body: { title: `nowhere ${outside.marker}` } })
await deliverTo(memory, db, tenant.ctx)

/** An admin key that ends at the root of the tree `inside`. */
const { key } = await call(inside.client, createApiKey, {
  params: { id: tenant.ctx.actorId },
  body: { name: 'limited', permissions: ['admin'], workspaceId: inside.thing.root },
})
const limited = testClient(app, key ?? '')

/** What describes the tenant or its members, not a workspace: everybody in the tenant may see it. */
const SHARED = new Set([
  'tenantId',
  'principal',
  'colleague',
  'apiKey',
  'person',
  'capability',
  'skill',
  'delegation',
  'binding',
  'session',
  'projectTemplate',
  'template',
])

/** Everything of the other tree that has an id. */
const hidden = Object.entries(outside.thing).flatMap(([name, value]) =>
  typeof value === 'string' && ID.test(value) && !SHARED.has(name) ? [value] : [],
)

/** Looks nothing up that a filter names: what is out of reach is not among the answers. */
const NARROWED = new Set(['listEvents', 'streamEvents', 'streamEventsBySocket'])

function names(text: string): string[] {
  return hidden.filter((id) => text.includes(id))
}

async function ask(route: Route, { input }: TenantCall) {
  const response = await send(limited, route, input)
  const text = await response.text()
  return { ok: response.ok, text, code: /"code":"(\w+)"/.exec(text)?.[1] ?? 'ok' }
}

describe('a key that is limited to a workspace', () => {
  for (const [operationId, route] of Object.entries<Route>(controlPlaneRoutes)) {
    const calls = TENANT_CASES[operationId]?.(outside.thing, inside.thing) ?? []
    if (operationId === 'bootstrap' || calls.length === 0) continue

    it(`finds nothing outside it through ${operationId}`, async () => {
      for (const attempt of calls) {
        const said = JSON.stringify(attempt.input)
        const heard = await ask(route, attempt)
        const leaked = names(heard.text).filter((id) => !said.includes(id))
        assert.deepEqual(leaked, [], `${said}: ${heard.text}`)
        if (names(said).length === 0 || NARROWED.has(operationId)) continue
        assert.ok(['not_found', 'permission_denied'].includes(heard.code), `${said}: ${heard.text}`)
      }
    })
  }

  it('works inside it as ever', async () => {
    const { thing } = inside
    const task = await call(limited, getTask, { params: { ref: thing.task } })
    assert.equal(task.workspaceId, thing.workspace)
    const body = { title: 'inside', workspaceId: thing.workspace }
    await call(limited, createTask, { body })
    const below = { slug: 'below', name: 'Below', parentId: thing.root }
    await call(limited, createWorkspace, { body: below })
    const { items } = await call(limited, getWorkspaceTree, {})
    assert.deepEqual(
      items.map(({ id }) => id),
      [thing.root],
    )
    assert.equal((await call(limited, getMe, {})).workspaceId, thing.root)
  })

  it('puts nothing outside all workspaces, nor out of its own', async () => {
    const { thing } = inside
    const nowhere = { body: { title: 'nowhere' } }
    assert.equal(await codeOf(limited, createTask, nowhere), 'permission_denied')
    const top = { body: { slug: 'top', name: 'Top' } }
    assert.equal(await codeOf(limited, createWorkspace, top), 'permission_denied')
    const { version } = await call(limited, getTask, { params: { ref: thing.freeTask } })
    const input = { params: { ref: thing.freeTask }, ifMatch: version }
    const out = { ...input, body: { workspaceId: null } }
    assert.equal(await codeOf(limited, controlPlaneRoutes.updateTask, out), 'permission_denied')
  })

  it('decides nothing about the tenant, whatever its permissions are called', async () => {
    const rename = { params: { id: tenant.ctx.actorId }, ifMatch: 1, body: { displayName: 'x' } }
    assert.equal(await codeOf(limited, updatePrincipal, rename), 'permission_denied')
    const wish = { name: 'x', permissions: ['principals.write'], workspaceId: inside.thing.root }
    const input = { params: { id: tenant.ctx.actorId }, body: wish }
    assert.equal(await codeOf(inside.client, createApiKey, input), 'invalid_permissions')
  })

  it('recalls from memory what belongs to it, and nothing else', async () => {
    const route = controlPlaneRoutes.getContext
    const reply = await call(limited, route, { body: { query: 'quokka' } })
    const text = JSON.stringify(reply)
    assert.equal(reply.memoryStatus, 'ok')
    assert.ok(text.includes(inside.marker))
    assert.ok(uuidsIn(text).every((id) => !hidden.includes(id)))
    assert.ok(!JSON.stringify(reply.memory).includes(outside.marker), text)
  })
})
