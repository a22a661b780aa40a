import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as delegations from '#contract/delegations.ts'
import { updatePrincipal } from '#contract/org.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { codeOf, twoTrees } from '../../test/support/two-trees.ts'

const db = await sharedDb()

/** An agent that may be delegated to by the first person of its tenant. */
async function delegated() {
  const here = await twoTrees(db)
  const person = here.ctx.actorId
  const delegate = (permissions: string[], more: object = {}) => ({
    body: { humanPrincipalId: person, agentPrincipalId: here.agentId, permissions, ...more },
  })
  const open = { body: { clientName: 'agent', onBehalfOf: person } }
  return { ...here, person, delegate, open, own: here.clientOf(here.agent.key) }
}

async function listed(who: ClientOptions): Promise<number> {
  return (await call(who, delegations.listDelegations, {})).items.length
}

describe('delegations', () => {
  it('let an agent open a session in the name of a person, until they are revoked', async () => {
    const { client, own, person, delegate, open } = await delegated()
    assert.equal(await codeOf(own, sessions.openSession, open), 'delegation_required')
    const wish = delegate(['sessions.open', 'tasks.claim'])
    const { id } = await call(client, delegations.createDelegation, wish)
    const session = await call(own, sessions.openSession, open)
    assert.equal(session.onBehalfOf, person)
    const task = await call(client, tasks.createTask, { body: { title: 'a' } })
    await call(own, sessions.heartbeatSession, { params: { id: session.id } })

    const ended = await call(client, delegations.revokeDelegation, { params: { id } })
    assert.equal(ended.status, 'revoked')
    assert.equal(await codeOf(own, sessions.openSession, open), 'delegation_required')
    const beat = { params: { id: session.id } }
    assert.equal(await codeOf(own, sessions.heartbeatSession, beat), 'delegation_required')
    const claim = { params: { ref: task.id }, body: { sessionId: session.id } }
    assert.equal(await codeOf(own, claims.claimTask, claim), 'delegation_required')
  })

  it('cover only the permissions they name', async () => {
    const { client, own, delegate, open } = await delegated()
    await call(client, delegations.createDelegation, delegate(['sessions.open']))
    const session = await call(own, sessions.openSession, open)
    const task = await call(client, tasks.createTask, { body: { title: 'a' } })
    const claim = { params: { ref: task.id }, body: { sessionId: session.id } }
    assert.equal(await codeOf(own, claims.claimTask, claim), 'delegation_required')
  })

  it('end with their time and with the person who gave them', async () => {
    const { ctx, tenant, client, own, delegate, open } = await delegated()
    const { id } = await call(client, delegations.createDelegation, delegate(['sessions.open']))
    await db`
      update delegations
      set expires_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and id = ${id}`
    assert.equal(await codeOf(own, sessions.openSession, open), 'delegation_required')
    const { items } = await call(client, delegations.listDelegations, {})
    assert.equal(items[0]?.status, 'expired')

    const second = await tenant.caller(['sessions.open', 'admin'], 'human')
    const humanPrincipalId = second.ctx.actorId
    await call(client, delegations.createDelegation, {
      body: { ...delegate(['sessions.open']).body, humanPrincipalId },
    })
    const inTheirName = { body: { ...open.body, onBehalfOf: humanPrincipalId } }
    await call(own, sessions.openSession, inTheirName)
    await call(client, updatePrincipal, {
      params: { id: humanPrincipalId },
      ifMatch: 1,
      body: { status: 'suspended' },
    })
    assert.equal(await codeOf(own, sessions.openSession, inTheirName), 'delegation_required')
  })

  it('give nothing that the person, the caller or an agent may not have', async () => {
    const { tenant, client, clientOf, agentId, delegate } = await delegated()
    const route = delegations.createDelegation
    const poor = await tenant.caller(['tasks.read'], 'human')
    const manager = clientOf((await tenant.caller(['delegations.manage', 'tasks.read'])).key)
    const from = (body: object, permissions: string[]) => ({
      body: { ...delegate(permissions).body, ...body },
    })
    const refusals = [
      [
        client,
        from({ humanPrincipalId: poor.ctx.actorId }, ['tasks.write']),
        'permission_escalation',
      ],
      [manager, delegate(['tasks.write']), 'permission_escalation'],
      [client, delegate(['approvals.decide']), 'permissions_not_allowed_for_kind'],
      [client, delegate([]), 'invalid_permissions'],
      [client, delegate(['tasks.fly']), 'invalid_permissions'],
      [client, from({ humanPrincipalId: agentId }, ['tasks.read']), 'invalid_delegation'],
      [client, from({ agentPrincipalId: poor.ctx.actorId }, ['tasks.read']), 'invalid_delegation'],
      [client, delegate(['tasks.read'], { expiresAt: '2020-01-01T00:00:00Z' }), 'invalid_request'],
    ] as const
    for (const [who, wish, code] of refusals) {
      assert.equal(await codeOf(who, route, wish), code, JSON.stringify(wish))
    }
  })

  it('are seen by their parties alone, and revoked by the person or a manager', async () => {
    const { tenant, client, clientOf, own, delegate } = await delegated()
    const { id } = await call(client, delegations.createDelegation, delegate(['tasks.read']))
    const stranger = clientOf((await tenant.caller(['tasks.read'])).key)
    assert.deepEqual([await listed(own), await listed(stranger)], [1, 0])
    const revoke = { params: { id } }
    const route = delegations.revokeDelegation
    assert.equal(await codeOf(stranger, route, revoke), 'not_found')
    assert.equal(await codeOf(own, route, revoke), 'permission_denied')
    assert.equal((await call(client, route, revoke)).status, 'revoked')
    assert.equal((await call(client, route, revoke)).status, 'revoked')
  })
})
