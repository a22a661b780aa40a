import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { CAPABILITIES } from '#contract/sessions.ts'
import * as skills from '#contract/skills.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { newSkill } from '../../test/support/skills.ts'
import { codeOf, twoTrees } from '../../test/support/two-trees.ts'
import { workClients } from '../../test/support/work.ts'
import { protocolsOf } from './tool.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

describe('a skill', () => {
  it('is registered once under a name and a version', async () => {
    const { client, tenant } = await admin()
    const skill = await call(client, skills.registerSkill, { body: newSkill('deploy') })
    const next = newSkill('deploy', { version: '1.1.0' })
    await call(client, skills.registerSkill, { body: next })

    assert.equal(
      await codeOf(client, skills.registerSkill, { body: newSkill('deploy') }),
      'skill_exists',
    )
    assert.deepEqual(
      [skill.status, skill.protocol, skill.rowVersion, skill.contract.timeoutSeconds],
      ['active', 'http', 1, 60],
    )
    const { items } = await call(client, skills.listSkills, { query: { name: 'deploy' } })
    assert.deepEqual(
      items.map(({ version }) => version),
      ['1.1.0', '1.0.0'],
    )
    const agent = clientOf((await tenant.caller(['org.read'])).key)
    assert.deepEqual(await call(agent, skills.getSkill, { params: { id: skill.id } }), skill)
    const wish = { body: newSkill('other') }
    assert.equal(await codeOf(agent, skills.registerSkill, wish), 'permission_denied')
  })

  it('needs two JSON Schemas that can be used, and holds no credential', async () => {
    const { client, tenant } = await admin()
    const { contract, ...body } = newSkill('deploy')
    const register = (changes: object) =>
      call(client, skills.registerSkill, {
        body: { ...body, contract: { ...contract, ...changes } },
      })
    await assert.rejects(register({ inputs: { type: 'nothing' } }), (error) => {
      const { code, details } = error as { code: string; details: { errors: { loc: string }[] } }
      assert.equal(code, 'invalid_skill')
      assert.equal(details.errors[0]?.loc, 'body.contract.inputs.type')
      return true
    })
    const secret = { protocol: 'http', token: `ghp_${'a1B2'.repeat(9)}` }
    await assert.rejects(register({ implementation: secret }), { code: 'secret_refused' })
    await assert.rejects(register({ outputs: { $ref: '#' } }), { code: 'invalid_skill' })
    await assert.rejects(register({ timeoutSeconds: 3601 }), { code: 'invalid_request' })
    const likeAnId = newSkill(crypto.randomUUID())
    assert.equal(await codeOf(client, skills.registerSkill, { body: likeAnId }), 'invalid_request')
    assert.equal((await eventsOf(db, tenant.ctx)).filter(isOfSkills).length, 0)
  })

  it('moves only towards its end, and says which version of it is changed', async () => {
    const { client, tenant } = await admin()
    const { id } = await call(client, skills.registerSkill, { body: newSkill('deploy') })
    const change = (ifMatch: number, body: { status?: skills.SkillStatus; description?: string }) =>
      send(client, skills.updateSkill, { params: { id }, ifMatch, body })

    assert.equal(await statusOf(change(2, { status: 'deprecated' })), 409)
    const deprecated = await change(1, { status: 'deprecated' })
    assert.deepEqual([deprecated.status, deprecated.headers.get('etag')], [200, '"skill-2"'])
    assert.equal(await statusOf(change(2, { status: 'active' })), 422)
    assert.equal(await statusOf(change(2, { status: 'deprecated' })), 200)
    assert.equal(await statusOf(change(2, { status: 'disabled', description: 'Gone' })), 200)
    assert.equal(await statusOf(change(3, { status: 'deprecated' })), 422)
    const events = (await eventsOf(db, tenant.ctx)).filter(isOfSkills)
    assert.deepEqual(
      events.map(({ type, payload, entityVersion }) => [type, payload, entityVersion]),
      [
        ['skill.registered', { name: 'deploy', version: '1.0.0', protocol: 'http' }, 1],
        ['skill.updated', { changedFields: ['status'], rowVersion: 2 }, 2],
        ['skill.updated', { changedFields: ['description', 'status'], rowVersion: 3 }, 3],
      ],
    )
  })

  it('keeps its contract whatever is asked of the database', async () => {
    const { client, tenant } = await admin()
    const { id } = await call(client, skills.registerSkill, { body: newSkill('deploy') })
    for (const change of [{ version: '2' }, { contract: '{}' }, { risk_level: 'high' }]) {
      const attempt = db`
        update skills
        set ${db(change)}
        where tenant_id = ${tenant.ctx.tenantId}
          and id = ${id}`
      await assert.rejects(attempt, /stays with its version/)
    }
  })

  it('is given once at a place, shown with the roles of a principal, and taken', async () => {
    const { client, ctx, agentId, leaf } = await twoTrees(db)
    const { id } = await call(client, skills.registerSkill, { body: newSkill('deploy') })
    const input = { params: { id }, body: { principalId: agentId, workspaceId: leaf.id } }
    const give = async () => (await send(client, skills.assignSkill, input)).status
    assert.deepEqual([await give(), await give()], [201, 200])
    const { items } = await call(client, skills.listSkillAssignments, { params: { id } })
    assert.deepEqual(
      items.map(({ principalId, skillId, workspaceId }) => [principalId, skillId, workspaceId]),
      [[agentId, id, leaf.id]],
    )
    assert.deepEqual(await call(client, skills.revokeSkill, input), { revoked: true })
    assert.deepEqual(await call(client, skills.revokeSkill, input), { revoked: false })
    const events = (await eventsOf(db, ctx)).filter(isOfSkills)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['skill.registered', 'skill.assigned', 'skill.revoked'],
    )
  })
})

async function statusOf(response: Promise<Response>): Promise<number> {
  return (await response).status
}

function isOfSkills({ type }: { type: string }): boolean {
  return type.startsWith('skill.')
}

describe('a protocol of skills', () => {
  it('is a capability that a harness can declare', () => {
    assert.equal(protocolsOf(['resume', 'tasks.interactive']), null)
    assert.deepEqual(protocolsOf(['skills.protocol.mcp', 'resume']), ['mcp'])
    assert.deepEqual(protocolsOf(CAPABILITIES), skills.SKILL_PROTOCOLS)
  })
})
