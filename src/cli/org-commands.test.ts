import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createWorkspaceType } from '#contract/workspace-types.ts'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { clientOf } = workClients(db)

describe('workspaces on the command line', () => {
  it('are shown, renamed, moved and closed by the path of their slugs', async (t) => {
    const { tenant, say, json, run } = await adminPerson(t, db)
    await call(clientOf(tenant.key), createWorkspaceType, {
      body: { key: 'team', displayName: 'Team' },
    })
    await say('workspace', 'create', 'shop')
    await say('workspace', 'create', 'bank', '--type', 'team')
    await say('workspace', 'create', 'api', '--parent', 'shop')
    assert.match(await say('workspace', 'get', 'bank'), /^bank\n[^]*type +team\n/)
    const renamed = await say('workspace', 'update', 'bank', '--name', 'The bank', '--type', 'none')
    assert.match(renamed, /^The bank\n/)
    assert.doesNotMatch(renamed, /type /)
    await say('workspace', 'move', 'shop/api', 'bank')
    assert.match(await say('workspace', 'tree'), /bank .*\n· api .*\nshop /)
    assert.match((await run('workspace', 'move', 'bank', 'bank/api')).err, /workspace_cycle/)
    await say('workspace', 'move', 'api', 'top')
    const { parentId } = await json('workspace', 'get', 'api')
    assert.equal(parentId, null)
    assert.equal(await say('workspace', 'archive', 'api'), 'Archived api\n')
    assert.match((await run('workspace', 'get', 'nowhere')).err, /Cannot find workspace "nowhere"/)
  })
})

describe('who acts, on the command line', () => {
  it('is suspended, disabled, let in again and renamed', async (t) => {
    const { say, runWith, run } = await adminPerson(t, db)
    const id = /[0-9a-f-]{36}/.exec(await say('principal', 'create', 'Ada'))?.[0] ?? ''
    const env = { CONTROL_PLANE_API_KEY: (await say('key', 'create', id)).trim() }
    assert.match(await say('principal', 'suspend', id), /status +suspended/)
    assert.match((await runWith({ env }, 'whoami')).err, /principal_not_active/)
    assert.match(await say('principal', 'disable', id), /status +disabled/)
    assert.match(await say('principal', 'reactivate', id), /status +active/)
    assert.match(await say('principal', 'rename', id, 'Ada', 'L.'), /^Ada L\. \(agent\)/)
    assert.match(await say('principal', 'get', id), /version +5/)
    assert.match((await runWith({ env }, 'whoami')).out, /^Ada L\. \(agent\)/)
    assert.equal((await run('principal', 'suspend', 'Ada')).code, 2)
  })

  it('learns how far the credential reaches and what admin means', async (t) => {
    const { say, json, runWith } = await adminPerson(t, db)
    assert.match(
      await say('whoami'),
      /reach +the whole tenant\npermissions +admin \(everything\)\n/,
    )
    const { id: workspaceId } = await json('workspace', 'create', 'shop')
    const { id } = await json('principal', 'create', 'Ada')
    const key = await say('key', 'create', String(id), '--workspace', 'shop')
    const env = { CONTROL_PLANE_API_KEY: key.trim() }
    const { out } = await runWith({ env }, 'whoami')
    assert.match(out, new RegExp(`reach +workspace ${String(workspaceId)} and below\n`))
    assert.match(out, /permissions +sessions\.open, /)
  })

  it('gets roles and capabilities, everywhere or in a place, and loses them', async (t) => {
    const { say, json, run } = await adminPerson(t, db)
    const { id } = (await json('principal', 'create', 'Ada')) as { id: string }
    await say('workspace', 'create', 'shop')
    assert.match(await say('role', 'create', 'reviewer', '--workspace', 'shop'), /^Created role/)
    assert.match(await say('role', 'list', '--workspace', 'shop'), / reviewer +[0-9a-f-]{36} /)
    await say('capability', 'create', 'gpu', '--description', 'Has a graphics card')
    assert.match(await say('capability', 'list'), / gpu +Has a graphics card/)
    await say('role', 'assign', 'reviewer', '--to', id)
    await say('capability', 'assign', 'gpu', '--to', id, '--workspace', 'shop')
    const assigned = await say('assignment', 'list', id)
    assert.match(assigned, /capability +\S+ +[0-9a-f-]{36} [^]*role +\S+ +- /)
    assert.equal(await say('role', 'revoke', 'reviewer', '--from', id), 'Revoked reviewer\n')
    assert.match(await say('capability', 'revoke', 'gpu', '--from', id), /was not given there/)
    assert.match((await run('role', 'assign', 'painter', '--to', id)).err, /Cannot find role/)
    assert.equal((await run('role', 'assign', 'reviewer')).code, 2)
  })

  it('lets an agent act in the name of a person, and ends that', async (t) => {
    const { tenant, say, json } = await adminPerson(t, db)
    const { id: agent } = (await json('principal', 'create', 'Ada')) as { id: string }
    const parties = ['--person', tenant.ctx.actorId, '--agent', agent]
    const { id } = await json('delegation', 'create', ...parties)
    const listed = await say('delegation', 'list', '--agent', agent)
    assert.match(listed, new RegExp(`${String(id)} +active .* sessions\\.open, tasks\\.claim `))
    assert.equal(await say('delegation', 'revoke', String(id)), `Revoked ${String(id)}\n`)
    assert.match(await say('delegation', 'list', '--person', tenant.ctx.actorId), / revoked /)
  })

  it('reads long listings page by page', async (t) => {
    const { say, run } = await adminPerson(t, db)
    for (const slug of ['a', 'b', 'c']) await say('role', 'create', `${slug}-${randomUUID()}`)
    const first = await run('role', 'list', '--limit', '2')
    const [, cursor = ''] = /^more: --cursor (\S+)$/m.exec(first.err) ?? []
    assert.match(first.out, / c-[^]* b-/)
    const rest = await run('role', 'list', '--cursor', cursor)
    assert.match(rest.out, / a-/)
    assert.doesNotMatch(rest.out, / b-/)
    assert.doesNotMatch(rest.err, /more/)
  })
})
