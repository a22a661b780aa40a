import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as org from '#contract/org.ts'
import * as workspaces from '#contract/workspaces.ts'
import { newId } from '#lib/id.ts'
import { testApp, testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { orgRoutes } from './routes.ts'

const db = await sharedDb()
const app = testApp(db, orgRoutes)

/** What listings are ordered by. */
const place = ({ createdAt, id }: { createdAt: string; id: string }) => `${createdAt} ${id}`

async function admin() {
  return testClient(app, (await testTenant(db)).key)
}

describe('principals', () => {
  it('are created, shown, listed and changed', async () => {
    const client = await admin()
    const body = { kind: 'agent', displayName: 'Reviewer' } as const

    const created = await call(client, org.createPrincipal, { body })
    assert.deepEqual(
      { ...created, id: '', createdAt: '' },
      {
        ...body,
        id: '',
        status: 'active',
        version: 1,
        createdAt: '',
      },
    )
    const params = { id: created.id }
    const response = await send(client, org.getPrincipal, { params })
    assert.equal(response.headers.get('etag'), '"principal-1"')
    assert.deepEqual(await response.json(), created)

    const patch = { params, ifMatch: 1, body: { displayName: 'Critic' } }
    const renamed = await call(client, org.updatePrincipal, patch)
    assert.deepEqual(renamed, { ...created, displayName: 'Critic', version: 2 })
    await assert.rejects(call(client, org.updatePrincipal, patch), {
      code: 'version_conflict',
      details: { currentVersion: 2, status: 409 },
    })
    const agents = await call(client, org.listPrincipals, { query: { kind: 'agent' } })
    assert.deepEqual(agents, { items: [renamed], nextCursor: null })
    const everybody = await call(client, org.listPrincipals)
    assert.equal(everybody.items.length, 2)
  })

  it('that are suspended are refused at their next request, and come back when reactivated', async () => {
    const tenant = await testTenant(db)
    const client = testClient(app, tenant.key)
    const agent = await tenant.caller(['workspaces.read'])
    const set = (status: org.PrincipalStatus, ifMatch: number) =>
      call(client, org.updatePrincipal, {
        params: { id: agent.ctx.actorId },
        ifMatch,
        body: { status },
      })

    await set('suspended', 1)
    const asAgent = testClient(app, agent.key)
    await assert.rejects(call(asAgent, org.getMe), { code: 'principal_not_active' })
    await set('active', 2)
    assert.equal((await call(asAgent, org.getMe)).principal.version, 3)
  })
})

describe('api keys', () => {
  it('are shown once, listed without secrets and ended at once', async () => {
    const client = await admin()
    const { id } = (await call(client, org.getMe)).principal
    const body = {
      name: 'laptop',
      permissions: ['workspaces.read'],
      expiresAt: '2100-01-01T00:00:00Z',
    }

    const created = await call(client, org.createApiKey, { params: { id }, body })
    const { key, ...shown } = created
    assert.ok(key)
    const holder = testClient(app, key)
    assert.equal((await call(holder, org.getMe)).keyPrefix, created.prefix)
    const list = await send(client, org.listApiKeys, { params: { id } })
    const text = await list.text()
    assert.ok(text.includes(created.prefix))
    assert.ok(!text.includes(key.slice(-43)))

    const params = { id: created.id }
    const revoked = await call(client, org.revokeApiKey, { params })
    assert.ok(revoked.revokedAt)
    assert.deepEqual({ ...revoked, revokedAt: null, lastUsedAt: null }, shown)
    assert.deepEqual(await call(client, org.revokeApiKey, { params }), revoked)
    await assert.rejects(call(holder, org.getMe), { code: 'invalid_credentials' })
  })

  it('created again under one Idempotency-Key are one key, whose secret is not repeated', async () => {
    const client = await admin()
    const { id } = (await call(client, org.getMe)).principal
    const body = { name: 'ci', permissions: ['tasks.read'] }
    const idempotencyKey = newId()
    const once = () => send(client, org.createApiKey, { params: { id }, body, idempotencyKey })

    const answers = await Promise.all(Array.from({ length: 5 }, once))
    const replies = await Promise.all(
      answers.map(async (one) => org.CreatedApiKey.parse(await one.json())),
    )

    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    assert.equal(new Set(replies.map((reply) => reply.id)).size, 1)
    assert.equal(replies.filter(({ key }) => key !== null).length, 1)
    const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')
    assert.equal(replayed.length, 4)
    const keys = await call(client, org.listApiKeys, { params: { id } })
    assert.equal(keys.items.filter(({ name }) => name === 'ci').length, 1)
  })

  it('give nobody more than the giver has', async () => {
    const tenant = await testTenant(db)
    const giver = await tenant.caller(['principals.write', 'tasks.read'])
    const client = testClient(app, giver.key)
    const params = { id: giver.ctx.actorId }
    const issue = (permissions: string[]) =>
      call(client, org.createApiKey, { params, body: { name: 'more', permissions } })

    assert.deepEqual((await issue(['tasks.read'])).permissions, ['tasks.read'])
    await assert.rejects(issue(['tasks.read', 'tasks.write']), { code: 'permission_escalation' })
    await assert.rejects(issue(['admin']), { code: 'permissions_not_allowed_for_kind' })
    await assert.rejects(issue([]), { code: 'invalid_permissions' })
    await assert.rejects(issue(['tasks.everything']), { code: 'invalid_permissions' })
    const reader = testClient(app, (await tenant.caller(['principals.read'])).key)
    const body = { name: 'more', permissions: ['principals.read'] }
    await assert.rejects(call(reader, org.createApiKey, { params, body }), {
      code: 'permission_denied',
      details: { required: 'principals.write', status: 403 },
    })
  })

  it('cannot be issued with an expiry that has passed', async () => {
    const client = await admin()
    const { id } = (await call(client, org.getMe)).principal
    const body = { name: 'late', permissions: ['tasks.read'], expiresAt: '2020-01-01T00:00:00Z' }

    await assert.rejects(call(client, org.createApiKey, { params: { id }, body }), {
      code: 'invalid_request',
      details: {
        errors: [{ loc: 'body.expiresAt', message: 'must lie in the future' }],
        status: 400,
      },
    })
  })
})

describe('workspace routes', () => {
  it('create, show, change, list, draw and archive', async () => {
    const client = await admin()
    const add = (slug: string, parentId?: string) =>
      call(client, workspaces.createWorkspace, {
        body: { slug, name: slug, ...(parentId && { parentId }) },
      })
    const root = await add('root')
    const child = await add('child', root.id)
    const params = { id: child.id }

    assert.deepEqual(await call(client, workspaces.getWorkspace, { params }), child)
    const body = { name: 'Child' }
    const renamed = await call(client, workspaces.updateWorkspace, { params, ifMatch: 1, body })
    assert.deepEqual(renamed, { ...child, name: 'Child', version: 2 })
    const children = await call(client, workspaces.listWorkspaces, { query: { parentId: root.id } })
    assert.deepEqual(children.items, [renamed])
    const draw = async (query: { rootId?: string; includeArchived?: 'true' }) =>
      (await call(client, workspaces.getWorkspaceTree, { query })).items
    assert.deepEqual(await draw({}), [{ ...root, children: [{ ...renamed, children: [] }] }])
    assert.deepEqual(await draw({ rootId: child.id }), [{ ...renamed, children: [] }])

    const archived = await call(client, workspaces.archiveWorkspace, { params })
    assert.equal(archived.status, 'archived')
    assert.deepEqual(await draw({}), [{ ...root, children: [] }])
    assert.equal((await draw({ includeArchived: 'true' }))[0]?.children.length, 1)
    const active = await call(client, workspaces.listWorkspaces, { query: { status: 'active' } })
    assert.deepEqual(active.items, [root])
  })

  it('list page by page, newest first, with cursors of that listing only', async () => {
    const client = await admin()
    const created: workspaces.Workspace[] = []
    for (let index = 0; index < 7; index += 1) {
      const slug = `w-${index}`
      const body = { slug, name: slug }
      created.push(await call(client, workspaces.createWorkspace, { body }))
    }
    const seen: workspaces.Workspace[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const query: { limit: string; cursor?: string } = { limit: '3', ...(cursor && { cursor }) }
      const answer = await call(client, workspaces.listWorkspaces, { query })
      seen.push(...answer.items)
      cursor = answer.nextCursor
      pages += 1
      if (pages === 1) {
        assert.ok(cursor)
        await assert.rejects(call(client, org.listPrincipals, { query: { cursor } }), {
          code: 'invalid_cursor',
        })
        await call(client, workspaces.createWorkspace, { body: { slug: 'later', name: 'later' } })
      }
    } while (cursor !== null)
    assert.equal(pages, 3)
    assert.deepEqual(
      seen,
      created.toSorted((a, b) => (place(a) < place(b) ? 1 : -1)),
    )
    for (const bad of ['x', 'pc1_', `pc1_${Buffer.from('[1]').toString('base64url')}`]) {
      await assert.rejects(call(client, workspaces.listWorkspaces, { query: { cursor: bad } }), {
        code: 'invalid_cursor',
      })
    }
  })
})

describe('authorize', () => {
  it('asks for a bearer credential, and for nothing else', async () => {
    const { key } = await testTenant(db)
    for (const authorization of ['', 'Bearer', `Basic ${key}`, key, `Bearer ${key} ${key}`]) {
      const response = await app.request('/api/v1/me', { headers: { authorization } })
      assert.equal(response.status, 401, authorization)
      assert.equal(response.headers.get('www-authenticate'), 'Bearer')
    }
    const headers = { authorization: `bearer ${key}` }
    assert.equal((await app.request('/api/v1/me', { headers })).status, 200)
  })

  it('accepts no local key when they are switched off', async () => {
    const { key } = await testTenant(db)
    const closed = testApp(db, orgRoutes, {
      keys: { localKeys: false, breakGlassSeconds: 0 },
    })
    await assert.rejects(call(testClient(closed, key), org.getMe), { code: 'invalid_credentials' })
  })
})
