import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { deleteDocument, queryEntities, storeDocument } from '#contract/knowledge.ts'
import {
  addWorkspace,
  contextTenant,
  knowledgeEvents,
  providerAt,
} from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { memoryAnswering } from '../../test/support/fake-memory.ts'

const db = await sharedDb()

describe('knowledge documents', () => {
  it('stores a document in the tree and notes that it did, unless nothing changed', async (t) => {
    let unchanged = false
    const memory = await fakeServer(t, (_, response) =>
      reply(response, 200, { natural_key: 'doc:readme', unchanged }),
    )
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    const body = { workspaceId, key: 'doc:readme', title: 'Readme', content: '# SESAME' }
    await call(tenant.client, storeDocument, { body })
    unchanged = true
    await call(tenant.client, storeDocument, { body })
    assert.deepEqual(memory.heard[0]?.body, {
      namespace: `tenant:${tenant.ctx.tenantId}:ws:${workspaceId}`,
      scopes: [`workspace:${workspaceId}`],
      natural_key: 'doc:readme',
      type: 'document',
      replace: true,
      title: 'Readme',
      content: '# SESAME',
    })
    assert.deepEqual(await knowledgeEvents(db, tenant.ctx.tenantId), [
      {
        type: 'knowledge.document_stored',
        workspaceId,
        payload: { workspaceId, key: 'doc:readme' },
      },
    ])
  })

  it('takes content or chunks, and says document_invalid when memory refuses them', async (t) => {
    const memory = await memoryAnswering(t, 422, { detail: 'SESAME' })
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    const refused = async (body: object, code: string) => {
      const document = { workspaceId, key: 'doc:x', ...body }
      await assert.rejects(call(tenant.client, storeDocument, { body: document }), { code })
    }
    await refused({}, 'invalid_request')
    await refused({ content: 'x', chunks: [{ text: 'x' }] }, 'invalid_request')
    await refused({ chunks: [] }, 'invalid_request')
    await refused({ chunks: [{ text: 'x', heading: 'h' }] }, 'document_invalid')
  })

  it('forgets a document once', async (t) => {
    let deleted = true
    const memory = await fakeServer(t, (_, response) => reply(response, 200, { deleted }))
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    const body = { workspaceId, key: 'doc:a/b c' }
    assert.deepEqual(await call(tenant.client, deleteDocument, { body }), { deleted: true })
    deleted = false
    assert.deepEqual(await call(tenant.client, deleteDocument, { body }), { deleted: false })
    const asked = new URL(memory.heard[0]?.path ?? '', 'http://x')
    assert.equal(asked.searchParams.get('natural_key'), 'doc:a/b c')
    assert.equal(
      asked.searchParams.get('namespace'),
      `tenant:${tenant.ctx.tenantId}:ws:${workspaceId}`,
    )
    const events = await knowledgeEvents(db, tenant.ctx.tenantId)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['knowledge.document_deleted'],
    )
  })
})

describe('POST /knowledge/entities:query', () => {
  it('asks in the tree, with the sight of the workspace and the caller', async (t) => {
    const memory = await memoryAnswering(t, 200, { items: [], nextCursor: null })
    const tenant = await contextTenant(db, providerAt(memory.url))
    const root = await addWorkspace(db, tenant.ctx)
    const workspaceId = await addWorkspace(db, tenant.ctx, root)
    const body = { workspaceId, kinds: ['file'], limit: 7 }
    const answer = await call(tenant.client, queryEntities, { body })
    assert.deepEqual(answer, { items: [], nextCursor: null })
    assert.deepEqual(memory.heard[0]?.body, {
      namespaces: [`tenant:${tenant.ctx.tenantId}:ws:${root}`],
      kinds: ['file'],
      limit: 7,
      allowed_namespaces: [`tenant:${tenant.ctx.tenantId}:ws:${root}`],
      allowed_scopes: [
        `principal:${tenant.ctx.actorId}`,
        `workspace:${workspaceId}`,
        `workspace:${root}`,
      ],
    })
    assert.deepEqual(await knowledgeEvents(db, tenant.ctx.tenantId), [])
  })
})
