import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWorkspace, listWorkspaces } from '#contract/workspaces.ts'
import type { Workspace } from '#contract/workspaces.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { call } from './client.ts'

const WORKSPACE: Workspace = {
  id: crypto.randomUUID(),
  parentId: null,
  slug: 's',
  name: 'S',
  status: 'active',
  typeKey: null,
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
}

describe('a reply', () => {
  it('may hold fields that a newer server added, at any depth', async (t) => {
    const page = { items: [{ ...WORKSPACE, colour: 'red' }], nextCursor: null, total: 1 }
    const { url } = await fakeServer(t, (_request, response) => reply(response, 200, page))
    const { items } = await call({ url, token: '' }, listWorkspaces)
    assert.equal(items[0]?.slug, 's')
  })

  it('must hold what the contract promises', async (t) => {
    const { url } = await fakeServer(t, (_request, response) => {
      reply(response, 201, { ...WORKSPACE, version: 'one', colour: 'red' })
    })
    const body = { slug: 's', name: 'S' }
    await assert.rejects(call({ url, token: '' }, createWorkspace, { body }), {
      name: 'TransportError',
      status: 201,
    })
  })
})
