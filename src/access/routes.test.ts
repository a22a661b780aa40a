import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as members from '#contract/members.ts'
import { getMe } from '#contract/org.ts'
import * as contract from '#contract/roles.ts'
import { assignSkill, registerSkill } from '#contract/skills.ts'
import { archiveWorkspace } from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { newSkill } from '../../test/support/skills.ts'
import { codeOf, twoTrees } from '../../test/support/two-trees.ts'
import { hasRole, heldAt, isEligible } from './is-eligible.ts'

const db = await sharedDb()

const role = (client: ClientOptions, slug: string, workspaceId: string | null = null) =>
  call(client, contract.createRole, { body: { slug, name: slug, workspaceId } })

const journal = async (tenantId: string, prefix: string) =>
  await db<{ type: string; workspaceId: string | null; payload: object }[]>`
    select type, workspace_id, payload
    from events
    where tenant_id = ${tenantId}
      and starts_with(type, ${prefix})
    order by sequence`

describe('roles', () => {
  it('hold where they were given and below, and nowhere else', async () => {
    const { ctx, client, agentId, root, leaf, other } = await twoTrees(db)
    const wide = await role(client, 'wide')
    const local = await role(client, 'local', root.id)
    const all = await role(client, 'all')
    for (const { id, workspaceId } of [
      { id: all.id, workspaceId: null },
      { id: wide.id, workspaceId: leaf.id },
      { id: local.id, workspaceId: null },
    ]) {
      const body = { principalId: agentId, workspaceId }
      await call(client, contract.assignRole, { params: { id }, body })
    }
    const at = async (workspaceId: string | null) =>
      (await heldAt(db, ctx, { principalId: agentId, workspaceId })).roles.map(({ slug }) => slug)

    assert.deepEqual(await at(leaf.id), ['all', 'local', 'wide'])
    assert.deepEqual(await at(root.id), ['all', 'local'])
    assert.deepEqual(await at(other.id), ['all'])
    assert.deepEqual(await at(null), ['all'])
    const ask = { principalId: agentId, workspaceId: leaf.id }
    assert.equal(await hasRole(db, ctx, { ...ask, roleId: wide.id }), true)
    assert.equal(await hasRole(db, ctx, { ...ask, workspaceId: root.id, roleId: wide.id }), false)
  })

  it('make eligible together with capabilities, and stop doing so when taken', async () => {
    const { ctx, client, agentId, leaf } = await twoTrees(db)
    const { id } = await role(client, 'reviewer')
    const python = await call(client, contract.createCapability, { body: { name: 'python' } })
    const body = { principalId: agentId }
    const requirements = { roles: ['reviewer'], capabilities: ['python'], skills: ['deploy'] }
    const ask = (grantedSkills: string[] | null = null) => {
      const candidate = { principalId: agentId, workspaceId: leaf.id, grantedSkills }
      return isEligible(db, ctx, requirements, candidate)
    }

    await call(client, contract.assignRole, { params: { id }, body })
    await call(client, contract.assignCapability, { params: { id: python.id }, body })
    const deploy = await call(client, registerSkill, { body: newSkill('deploy') })
    await call(client, assignSkill, { params: { id: deploy.id }, body })
    assert.deepEqual(await ask(), { eligible: true, missing: [] })
    await call(client, contract.revokeCapability, { params: { id: python.id }, body })
    assert.deepEqual(await ask(['lint']), {
      eligible: false,
      missing: [
        { kind: 'capability', name: 'python' },
        { kind: 'skill', name: 'deploy' },
      ],
    })
  })

  it('of the whole tenant count outside all workspaces too, and no others do there', async () => {
    const { ctx, client, agentId, leaf } = await twoTrees(db)
    const [everywhere, there] = [await role(client, 'auditor'), await role(client, 'reviewer')]
    const grant = { principalId: agentId }
    await call(client, contract.assignRole, { params: { id: everywhere.id }, body: grant })
    const onlyThere = { ...grant, workspaceId: leaf.id }
    await call(client, contract.assignRole, { params: { id: there.id }, body: onlyThere })
    const held = async (workspaceId: string | null) =>
      (await heldAt(db, ctx, { principalId: agentId, workspaceId })).roles.map(({ slug }) => slug)
    assert.deepEqual(await held(null), ['auditor'])
    assert.deepEqual(await held(leaf.id), ['auditor', 'reviewer'])
  })

  it('are given once however often they are given, and each change is one event', async () => {
    const { ctx, client, agentId, leaf } = await twoTrees(db)
    const { id } = await role(client, 'reviewer')
    const input = { params: { id }, body: { principalId: agentId, workspaceId: leaf.id } }
    const statuses = []
    for (let turn = 0; turn < 2; turn += 1) {
      statuses.push((await send(client, contract.assignRole, input)).status)
    }
    assert.deepEqual(statuses, [201, 200])
    assert.deepEqual(await call(client, contract.revokeRole, input), { revoked: true })
    assert.deepEqual(await call(client, contract.revokeRole, input), { revoked: false })
    const payload = { roleId: id, principalId: agentId, workspaceId: leaf.id }
    assert.deepEqual(
      [...(await journal(ctx.tenantId, 'role.'))].map((row) => [row.type, row.workspaceId]),
      [
        ['role.created', null],
        ['role.assigned', leaf.id],
        ['role.revoked', leaf.id],
      ],
    )
    assert.deepEqual((await journal(ctx.tenantId, 'role.assigned'))[0]?.payload, payload)
  })

  it('are not given outside the workspace they are known in', async () => {
    const { client, agentId, root, other } = await twoTrees(db)
    const { id } = await role(client, 'local', root.id)
    const body = { principalId: agentId, workspaceId: other.id }
    assert.equal(
      await codeOf(client, contract.assignRole, { params: { id }, body }),
      'assignment_outside_role',
    )
  })

  it('share no slug at one place, and may at two', async () => {
    const { client, root, other } = await twoTrees(db)
    await role(client, 'lead', root.id)
    await role(client, 'lead', other.id)
    const body = { slug: 'lead', name: 'again', workspaceId: root.id }
    assert.equal(await codeOf(client, contract.createRole, { body }), 'role_exists')
    const boss = await role(client, 'boss', root.id)
    const rename = { params: { id: boss.id }, ifMatch: 1, body: { slug: 'lead' } }
    assert.equal(await codeOf(client, contract.updateRole, rename), 'role_exists')
    const twice = { body: { name: 'gpu' } }
    await call(client, contract.createCapability, twice)
    assert.equal(await codeOf(client, contract.createCapability, twice), 'capability_exists')
  })

  it('are listed for a workspace with those of its ancestors and of the tenant', async () => {
    const { client, root, leaf, other } = await twoTrees(db)
    await role(client, 'everywhere')
    await role(client, 'in-root', root.id)
    await role(client, 'in-other', other.id)
    const { items } = await call(client, contract.listRoles, { query: { workspaceId: leaf.id } })
    assert.deepEqual(
      items.map(({ slug }) => slug),
      ['in-root', 'everywhere'],
    )
  })

  it('are changed by those who may manage the organisation alone, at the version they saw', async () => {
    const { tenant, client, clientOf } = await twoTrees(db)
    const reader = clientOf((await tenant.caller(['org.read'])).key)
    const { id } = await role(client, 'reviewer')
    const change = { params: { id }, ifMatch: 1, body: { name: 'Reviewer' } }
    assert.equal(await codeOf(reader, contract.updateRole, change), 'permission_denied')
    assert.equal((await call(client, contract.updateRole, change)).version, 2)
    assert.equal(
      await codeOf(client, contract.updateRole, { ...change, body: { name: 'Other' } }),
      'version_conflict',
    )
  })

  it('grant no right', async () => {
    const { client, clientOf, agent, agentId } = await twoTrees(db)
    const { id } = await role(client, 'boss')
    await call(client, contract.assignRole, { params: { id }, body: { principalId: agentId } })
    const own = clientOf(agent.key)
    assert.equal(await codeOf(own, contract.listRoles, {}), 'permission_denied')
    const me = await call(own, getMe, {})
    assert.deepEqual(me.permissions.toSorted(), ['sessions.open', 'tasks.claim', 'tasks.read'])
  })
})

describe('members of a workspace', () => {
  it('are added once, listed and removed', async () => {
    const { ctx, client, agentId, root } = await twoTrees(db)
    const add = { params: { id: root.id }, body: { principalId: agentId } }
    assert.equal((await send(client, members.addMember, add)).status, 201)
    assert.equal((await send(client, members.addMember, add)).status, 200)
    const page = await call(client, members.listMembers, { params: { id: root.id } })
    assert.deepEqual(
      page.items.map(({ principalId, kind, addedBy }) => [principalId, kind, addedBy]),
      [[agentId, 'agent', ctx.actorId]],
    )
    const gone = { params: { id: root.id, principalId: agentId } }
    assert.deepEqual(await call(client, members.removeMember, gone), { removed: true })
    assert.deepEqual(await call(client, members.removeMember, gone), { removed: false })
    const events = await journal(ctx.tenantId, 'workspace.member_')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['workspace.member_added', 'workspace.member_removed'],
    )
  })

  it('do not join a workspace that is closed', async () => {
    const { client, agentId, other } = await twoTrees(db)
    await call(client, archiveWorkspace, { params: { id: other.id } })
    const add = { params: { id: other.id }, body: { principalId: agentId } }
    assert.equal(await codeOf(client, members.addMember, add), 'workspace_archived')
  })
})
