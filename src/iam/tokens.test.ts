import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { SignJWT } from 'jose'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as contract from '#contract/iam.ts'
import { createPrincipal, getMe, listPrincipals, updatePrincipal } from '#contract/org.ts'
import { createTask, getTask, listTasks } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { startIssuer } from '../../test/support/issuer.ts'
import { tokenClients } from '../../test/support/token-clients.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()
const people = Array.from({ length: 30 }, () => `user-${randomUUID()}`)
const issuer = await startIssuer(people)
const { clientOf, bound } = tokenClients(db, issuer.url)

const ALL = 'control-plane:read control-plane:write control-plane:admin'

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Somebody of the issuer whom no test has met. */
function stranger(): string {
  return people.pop() ?? ''
}

async function signedIn(subject: string, scope = ALL): Promise<ClientOptions> {
  return clientOf(await issuer.token(subject, { audience: 'control-plane', scope }))
}

describe('an access token of another issuer', () => {
  it('lets its holder act as the principal that it is bound to', async () => {
    const subject = stranger()
    const { tenant, principalId } = await bound(subject, { permissions: ['admin'] })
    const client = await signedIn(subject)

    const me = await call(client, getMe, {})
    assert.equal(me.principal.id, principalId)
    assert.equal(me.tenant.id, tenant.ctx.tenantId)
    assert.equal(me.keyPrefix, null)
    assert.deepEqual(me.iam, { issuer: issuer.url, principalId: subject })
    const made = await call(client, createPrincipal, { body: { kind: 'agent', displayName: 'a' } })
    const [event] = await db`
      select actor_id, iam_actor_id
      from events
      where tenant_id = ${tenant.ctx.tenantId}
        and entity_id = ${made.id}`
    assert.deepEqual({ ...event }, { actorId: principalId, iamActorId: subject })
  })

  it('is refused for an identity that nobody bound, or for another tenant of the issuer', async () => {
    assert.equal(await codeOf(await signedIn(stranger()), getMe, {}), 'invalid_credentials')
    const subject = stranger()
    await bound(subject, { iamTenantId: 'acme' })
    assert.equal(await codeOf(await signedIn(subject), getMe, {}), 'invalid_credentials')
    issuer.claims.set(subject, { tenant_id: 'acme' })
    assert.equal(await codeOf(await signedIn(subject), getMe, {}), 'ok')
  })

  it('is refused when it is for somebody else, from somebody else, expired or forged', async () => {
    const subject = stranger()
    await bound(subject)
    const wish = { audience: 'control-plane', scope: ALL }
    const good = await issuer.token(subject, wish)
    assert.equal(await codeOf(clientOf(good), getMe, {}), 'ok')
    const other = await startIssuer([subject])
    const [head = '', body = '', mark = ''] = good.split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
    const bad = [
      await issuer.token(subject, { ...wish, audience: 'memory-service' }),
      await issuer.token(subject, { ...wish, audience: 'control-plane-2' }),
      await other.token(subject, wish),
      `${head}.${encode({ ...claims, sub: people[0] })}.${mark}`,
      `${encode({ alg: 'none' })}.${body}.`,
      `${encode({ alg: 'none' })}.${body}.${mark}`,
      await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from('a secret that only the test knows')),
      'a.b.c',
      '..',
    ]
    for (const token of bad) {
      assert.equal(await codeOf(clientOf(token), getMe, {}), 'invalid_credentials', token)
    }
    const brief = await startIssuer([subject], { ttlSeconds: 1 })
    const near = tokenClients(db, brief.url, { verify: { leewaySeconds: 0 } })
    await near.bound(subject)
    const client = near.clientOf(await brief.token(subject, wish))
    await waitFor(async () => (await codeOf(client, getMe, {})) === 'invalid_credentials')
  })

  it('does no more than its scopes say, whatever the binding permits', async () => {
    const subject = stranger()
    await bound(subject, { permissions: ['admin'] })
    const body = { title: 'from a token' }
    const cases = [
      ['control-plane:read', 'ok', 'permission_denied'],
      ['control-plane:write', 'permission_denied', 'ok'],
      ['control-plane:read control-plane:write', 'ok', 'ok'],
      ['other:read', 'scope_not_granted', 'scope_not_granted'],
    ] as const
    for (const [scope, reading, writing] of cases) {
      const client = await signedIn(subject, scope)
      assert.equal(await codeOf(client, listPrincipals, {}), reading, scope)
      assert.equal(await codeOf(client, createTask, { body }), writing, scope)
    }
  })

  it('does no more than the binding permits, whatever its scopes say', async () => {
    const subject = stranger()
    await bound(subject, { permissions: ['tasks.read'] })
    const client = await signedIn(subject)
    assert.deepEqual((await call(client, getMe, {})).permissions, ['tasks.read'])
    assert.equal(await codeOf(client, listPrincipals, {}), 'permission_denied')
  })

  it('reaches no further than the workspace of the binding', async () => {
    const subject = stranger()
    const { admin, principalId } = await bound(stranger())
    const add = (slug: string) => call(admin, createWorkspace, { body: { slug, name: slug } })
    const [own, other] = [await add('own'), await add('other')]
    await call(admin, contract.createIamBinding, {
      params: { id: principalId },
      body: {
        issuer: issuer.url,
        iamPrincipalId: subject,
        permissions: ['tasks.read', 'tasks.write'],
        workspaceId: own.id,
      },
    })
    const hidden = await call(admin, createTask, { body: { title: 'x', workspaceId: other.id } })
    const client = await signedIn(subject)
    await call(client, createTask, { body: { title: 'y', workspaceId: own.id } })
    assert.equal(await codeOf(client, getTask, { params: { ref: hidden.id } }), 'not_found')
    assert.equal((await call(client, listTasks, {})).items.length, 1)
  })

  it('is not accepted at all where no issuer is configured', async () => {
    const subject = stranger()
    const { tenant } = await bound(subject)
    const closed = tokenClients(db, issuer.url, { verify: { audience: 'nobody' } })
    assert.equal(await codeOf(closed.clientOf(tenant.key), getMe, {}), 'ok')
    const token = await issuer.token(subject, { audience: 'control-plane', scope: ALL })
    assert.equal(await codeOf(closed.clientOf(token), getMe, {}), 'invalid_credentials')
  })
})

describe('an issuer that does not answer', () => {
  it('lets nobody in, and holds nothing against the holder', async () => {
    const subject = randomUUID()
    const gone = await startIssuer([subject])
    const clients = tokenClients(db, gone.url)
    await clients.bound(subject)
    const token = await gone.token(subject, { audience: 'control-plane', scope: ALL })
    await gone.close()
    assert.equal(await codeOf(clients.clientOf(token), getMe, {}), 'iam_unavailable')

    const back = await startIssuer([subject], { port: Number(new URL(gone.url).port) })
    const fresh = await back.token(subject, { audience: 'control-plane', scope: ALL })
    assert.equal(await codeOf(clients.clientOf(fresh), getMe, {}), 'ok')
  })

  it('is not asked again while its keys are known', async () => {
    const subject = randomUUID()
    const gone = await startIssuer([subject])
    const clients = tokenClients(db, gone.url)
    await clients.bound(subject)
    const client = clients.clientOf(
      await gone.token(subject, { audience: 'control-plane', scope: ALL }),
    )
    await call(client, getMe, {})
    await call(client, getMe, {})
    assert.equal(gone.keyRequests(), 1)
    await gone.close()
    assert.equal(await codeOf(client, getMe, {}), 'ok')
  })
})

describe('a binding', () => {
  it('that ends is ended for writes at once, and for reads when it is looked at again', async () => {
    const subject = stranger()
    let nowMs = Date.now()
    const clients = tokenClients(db, issuer.url, { now: () => nowMs })
    const permissions = ['tasks.read', 'tasks.write']
    const { admin, binding } = await clients.bound(subject, { permissions })
    const token = await issuer.token(subject, { audience: 'control-plane', scope: ALL })
    const client = clients.clientOf(token)
    const writing = { body: { title: 'x' } }
    assert.equal(await codeOf(client, createTask, writing), 'ok')
    await call(admin, contract.updateIamBinding, {
      params: { id: binding.id },
      ifMatch: binding.version,
      body: { status: 'disabled' },
    })
    assert.equal(await codeOf(client, createTask, writing), 'invalid_credentials')
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    nowMs += 31_000
    assert.equal(await codeOf(client, listTasks, {}), 'invalid_credentials')
  })

  it('does not let in a principal that is suspended', async () => {
    const subject = stranger()
    const { admin, principalId } = await bound(subject)
    const body = { status: 'suspended' } as const
    await call(admin, updatePrincipal, { params: { id: principalId }, ifMatch: 1, body })
    assert.equal(await codeOf(await signedIn(subject), getMe, {}), 'principal_not_active')
  })

  it('belongs to one principal of one tenant', async () => {
    const subject = stranger()
    await bound(subject)
    const { admin, principalId } = await bound(stranger())
    const body = { issuer: issuer.url, iamPrincipalId: subject, permissions: ['tasks.read'] }
    const again = { params: { id: principalId }, body }
    assert.equal(await codeOf(admin, contract.createIamBinding, again), 'iam_binding_exists')
  })

  it('gives nothing that its giver lacks, or that is kept for people', async () => {
    const { tenant, admin, principalId } = await bound(stranger(), {}, 'agent')
    const manager = clientOf((await tenant.caller(['principals.write', 'tasks.read'])).key)
    const wish = (permissions: string[]) => ({
      params: { id: principalId },
      body: { issuer: issuer.url, iamPrincipalId: stranger(), permissions },
    })
    const route = contract.createIamBinding
    assert.equal(await codeOf(manager, route, wish(['tasks.write'])), 'permission_escalation')
    assert.equal(await codeOf(admin, route, wish(['admin'])), 'permissions_not_allowed_for_kind')
    assert.equal(await codeOf(admin, route, wish([])), 'invalid_permissions')
    const made = await call(manager, route, wish(['tasks.read']))
    const widen = { params: { id: made.id }, ifMatch: 1, body: { permissions: ['tasks.write'] } }
    assert.equal(await codeOf(manager, contract.updateIamBinding, widen), 'permission_escalation')
  })

  it('is let in again only by who could give what it holds', async () => {
    const { tenant, admin, binding } = await bound(stranger(), { permissions: ['tasks.write'] })
    const manager = clientOf((await tenant.caller(['principals.write', 'tasks.read'])).key)
    const turn = (client: ClientOptions, status: string, ifMatch: number) =>
      codeOf(client, contract.updateIamBinding, {
        params: { id: binding.id },
        ifMatch,
        body: { status },
      })
    assert.equal(await turn(manager, 'disabled', 1), 'ok')
    assert.equal(await turn(manager, 'active', 2), 'permission_escalation')
    assert.equal(await turn(admin, 'active', 2), 'ok')
  })

  it('that is revoked stays so, and the last that administers is kept', async () => {
    const subject = stranger()
    const { tenant, admin, binding } = await bound(subject, { permissions: ['admin'] })
    await db`
      update api_keys
      set expires_at = clock_timestamp() + interval '1 hour', break_glass_reason = 'drill'
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${tenant.ctx.credentialId}`
    const end = (status: string, ifMatch: number) =>
      codeOf(admin, contract.updateIamBinding, {
        params: { id: binding.id },
        ifMatch,
        body: { status },
      })
    assert.equal(await end('disabled', 1), 'last_admin_required')
    const other = await tenant.caller(['admin'], 'human')
    assert.ok(other.key)
    assert.equal(await end('disabled', 1), 'ok')
    assert.equal(await end('active', 2), 'ok')
    assert.equal(await end('revoked', 3), 'ok')
    assert.equal(await end('active', 4), 'invalid_transition')
  })
})
