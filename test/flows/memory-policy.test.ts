import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { Observation } from '#adapter/mapping.ts'
import { createMemorySink } from '#adapter/memory-sink.ts'
import { call } from '#client/client.ts'
import { getContext } from '#contract/context.ts'
import { queryEntities, reconcileSnapshot } from '#contract/knowledge.ts'
import { transaction } from '#db/sql.ts'
import { clientTokens } from '#lib/client-tokens.ts'
import { tokenVerifier } from '#lib/jwt.ts'
import type { PolicySettings } from '#memory/access/policy.ts'
import { createWorkspace } from '#org/create-workspace.ts'
import { searchAt } from '../../src/identity.ts'
import { contextClient, providerAt } from '../support/context.ts'
import { testTenant } from '../support/ctx.ts'
import { sharedDb, sharedMemoryDb } from '../support/db.ts'
import { CLIENT_SECRET, startIssuer } from '../support/issuer.ts'
import { decision, testMemory } from '../support/memory.ts'
import { startDecisionPoint } from '../support/policies.ts'

const db = await sharedDb()
const memoryDb = await sharedMemoryDb()
const ALL = 'memory:read memory:write'
const PEOPLE = ['ann', 'bob', 'robot', 'account', 'platform']
const issuer = await startIssuer(PEOPLE)
const KEY = 'the-key-of-the-operator'

const POLICIES = (tenant: string) => `
permit (principal == Principal::"ann", action, resource == MemoryNamespace::"tenant-${tenant}");
permit (principal == Principal::"ann", action, resource == Workspace::"w1");
permit (principal == Principal::"ann", action == Action::"memory.read", resource == Workspace::"w2");
permit (principal == Principal::"bob", action == Action::"memory.read", resource == MemoryNamespace::"tenant-${tenant}");
permit (principal == Principal::"robot", action, resource in Tenant::"${tenant}");
`

const OBSERVATION: Observation = {
  source: { system: 'control-plane', stream: 'domain-events', external_id: randomUUID() },
  kind: 'finding',
  occurred_at: '2026-01-15T10:00:00Z',
  subject: { type: 'task', id: randomUUID() },
  scopes: [],
  content: 'Payouts are retried twice',
  data: {},
  provenance: { uri: 'urn:test' },
}

/** Memory in policy mode, with something of every audience in the namespace of a tenant. */
async function scene(t: TestContext, policy: Partial<PolicySettings> = {}) {
  const tenant = randomUUID()
  const namespace = `tenant:${tenant}`
  const { point, stop } = await startDecisionPoint(t, POLICIES(tenant))
  const memory = testMemory(memoryDb, {
    serverApiKey: KEY,
    verifyToken: tokenVerifier({
      issuer: issuer.url,
      jwksUrl: undefined,
      audience: 'memory-service',
      leewaySeconds: 5,
    }),
    policy: { search: searchAt(point), cacheSeconds: 0, ...policy },
  })
  const kinds = { ann: 'human', bob: 'human', robot: 'agent', account: 'service' }
  for (const [name, kind] of Object.entries(kinds)) {
    issuer.claims.set(name, { tenant_id: tenant, principal_type: kind })
  }
  const tokenOf = (who: string, scope = ALL) =>
    issuer.token(who, { audience: 'memory-service', scope })
  const record = (token: string, scopes: string[], words = scopes.join(' '), to = namespace) =>
    memory.post(
      '/api/memory/observations',
      { ...decision({ source: {}, scopes, content: `known ${words}` }), scope: { namespace: to } },
      token,
    )
  for (const scope of [
    'workspace:w1',
    'workspace:w2',
    'workspace:w3',
    'principal:ann',
    'principal:bob',
  ])
    await record(KEY, [scope])
  await record(KEY, [], 'everybody')
  const ask = (token: string, more: object = {}) =>
    memory.post('/api/brain/search', { query: 'known', scope: { namespace }, ...more }, token)
  const seen = async (token: string, more: object = {}) => {
    const { status, body } = await ask(token, more)
    assert.equal(status, 200, JSON.stringify(body))
    return (body.hits as { text: string }[])
      .map(({ text }) => text.split(' ')[1] ?? '')
      .toSorted((a, b) => a.localeCompare(b))
  }
  return { tenant, namespace, memory, tokenOf, record, ask, seen, stop }
}

describe('memory in policy mode', () => {
  it('shows people what the decision point lists, what is shared, and their own', async (t) => {
    const { tokenOf, seen } = await scene(t)
    const ann = await tokenOf('ann')
    const own = ['everybody', 'principal:ann', 'workspace:w1', 'workspace:w2']
    assert.deepEqual(await seen(ann), own)
    assert.deepEqual(await seen(ann, { allowed_scopes: ['workspace:*', 'principal:bob'] }), [
      'everybody',
      'workspace:w1',
      'workspace:w2',
    ])
    assert.deepEqual(await seen(ann, { allowed_scopes: [] }), ['everybody'])
    assert.deepEqual(await seen(await tokenOf('bob')), ['everybody', 'principal:bob'])
    const all = ['workspace:w1', 'workspace:w2', 'workspace:w3']
    assert.deepEqual(await seen(await tokenOf('robot')), ['everybody', ...all])
    assert.equal((await seen(KEY)).length, 6)
  })

  it('opens a namespace by the name under which the decision point knows it', async (t) => {
    const { tenant, tokenOf, ask, record } = await scene(t)
    const [ann, robot] = [await tokenOf('ann'), await tokenOf('robot')]
    const at = (name: string) => ({ scope: { namespace: `tenant:${tenant}${name}` } })
    for (const name of [':ws:w1', ':principal:bob', ':other', '0']) {
      const { status, body } = await ask(ann, at(name))
      assert.deepEqual([status, body.namespace], [403, at(name).scope.namespace])
    }
    assert.equal((await ask(robot, at(':ws:w1'))).status, 200)
    const own = `tenant:${tenant}:principal:ann`
    assert.equal((await record(ann, [], 'to myself', own)).status, 201)
    assert.equal((await ask(ann, at(':principal:ann:deep'))).status, 200)
    assert.equal((await ask(ann, at(':principal:anna'))).status, 403)
  })

  it('lets nobody write where writing is not permitted, nor over what they do not see', async (t) => {
    const { tokenOf, record, memory, namespace } = await scene(t)
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
    const status = async (token: string, scopes: string[]) =>
      (await record(token, scopes, 'new')).status
    assert.equal(await status(ann, ['workspace:w1']), 201)
    assert.equal(await status(ann, ['workspace:w2']), 403)
    assert.equal(await status(ann, ['principal:bob']), 403)
    assert.equal(await status(bob, []), 403)
    const document = { natural_key: 'doc:a', content: 'theirs', scope: { namespace } }
    const put = async (token: string, scopes: string[]) =>
      (await memory.post('/api/brain/documents', { ...document, scopes }, token)).status
    assert.equal(await put(KEY, ['workspace:w3']), 200)
    assert.equal(await put(ann, ['workspace:w1']), 403)
    const path = `/api/brain/documents?namespace=${namespace}&natural_key=doc:a`
    assert.equal((await memory.delete(path, ann)).body.deleted, false)
    assert.equal((await memory.delete(path, KEY)).body.deleted, true)
  })

  it('answers 503 while there is no decision to be had', async (t) => {
    const { tokenOf, ask, stop } = await scene(t)
    const ann = await tokenOf('ann')
    await stop()
    const { status, body } = await ask(ann)
    assert.deepEqual([status, body.code], [503, 'policy_unavailable'])
    assert.equal((await ask(KEY)).status, 200)
  })

  it('keeps a decision for its time, and asks about a new workspace at once', async (t) => {
    let nowMs = 0
    const asked: string[] = []
    const search: PolicySettings['search'] = (_, { type, candidates }) => {
      asked.push(type)
      return Promise.resolve(candidates.map(({ id }) => id))
    }
    const { tokenOf, seen, record } = await scene(t, { search, cacheSeconds: 5, now: () => nowMs })
    const ann = await tokenOf('ann')
    await Promise.all([seen(ann), seen(ann)])
    assert.deepEqual(asked, ['memory_namespace', 'workspace'])
    nowMs = 4999
    await record(KEY, ['workspace:w4'])
    assert.ok((await seen(ann)).includes('workspace:w4'))
    assert.deepEqual(asked, ['memory_namespace', 'workspace', 'workspace'])
    nowMs = 5000
    await seen(ann)
    assert.equal(asked.filter((type) => type === 'memory_namespace').length, 2)
  })

  it('shows a trace only to who sees no less than its reader did', async (t) => {
    const { tokenOf, memory, namespace } = await scene(t)
    const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
    const read = async (token: string) => {
      const body = { query: 'known', scope: { namespace } }
      const { body: pack } = await memory.post('/api/memory/context', body, token)
      return String(pack.trace_id)
    }
    const ids = { ann: await read(ann), bob: await read(bob) }
    const status = async (token: string, id: string) =>
      (await memory.get(`/api/memory/context/trace/${id}?namespace=${namespace}`, token)).status
    assert.deepEqual([await status(ann, ids.ann), await status(KEY, ids.ann)], [200, 200])
    assert.deepEqual([await status(bob, ids.ann), await status(ann, ids.bob)], [404, 404])
  })

  it('takes from who acts for others the word for whom', async (t) => {
    const { tokenOf, ask, seen, record, memory, namespace } = await scene(t)
    const account = await tokenOf('account', `${ALL} memory:on-behalf`)
    const scopes = ['workspace:w3', 'principal:bob']
    assert.equal((await ask(account)).status, 403)
    assert.equal((await ask(account, { allowed_scopes: scopes })).status, 403)
    assert.equal((await ask(account, { allowed_namespaces: [namespace] })).status, 403)
    const both = { allowed_scopes: scopes, allowed_namespaces: [namespace] }
    assert.deepEqual(await seen(account, both), ['everybody', 'principal:bob', 'workspace:w3'])
    assert.equal((await ask(account, { ...both, allowed_namespaces: [] })).status, 403)
    assert.equal((await record(account, ['workspace:w9'])).status, 201)
    const { status } = await memory.get(`/api/memory/streams?namespace=${namespace}`, account)
    assert.equal(status, 200)
    const platform = await tokenOf('platform', `${ALL} memory:tenants memory:service`)
    assert.equal((await seen(platform)).length, 7)
  })

  it('lets an agent not act for others, whatever its token says', async (t) => {
    const { tokenOf, seen, namespace } = await scene(t)
    const robot = await tokenOf('robot', `${ALL} memory:on-behalf memory:service`)
    const wish = { allowed_namespaces: [namespace], allowed_scopes: ['principal:bob'] }
    assert.deepEqual(await seen(robot, wish), ['everybody'])
  })
})

describe('the control plane at a memory in policy mode', () => {
  it('delivers, recalls and publishes with a token that acts for others', async (t) => {
    const { memory } = await scene(t)
    const tokens = clientTokens({
      issuer: issuer.url,
      tokenUrl: undefined,
      clientId: 'platform',
      clientSecret: CLIENT_SECRET,
      audience: 'memory-service',
      scopes: [...ALL.split(' '), 'memory:tenants', 'memory:service', 'memory:on-behalf'],
    })
    const provider = { ...providerAt('http://memory.test'), tokens, fetch: memory.fetch }
    const tenant = await testTenant(db)
    const client = contextClient(db, tenant.key, provider)
    const { id: workspaceId } = await transaction(db, 'read write', (sql) =>
      createWorkspace(sql, tenant.ctx, { slug: 'a', name: 'A', parentId: null }),
    )
    const sink = createMemorySink({
      memory: provider,
      namespacePrefix: 'tenant:',
      timeoutSeconds: 10,
      traceRunId: 'adapter_test',
    })
    const batch = {
      tenantId: tenant.ctx.tenantId,
      observations: [OBSERVATION],
      position: { journalEpoch: 1, txId: '7', sequence: '1' },
    }
    const delivered = await sink(batch, AbortSignal.timeout(10_000))
    assert.deepEqual(delivered, { kind: 'confirmed', duplicates: 0 })
    const snapshot = {
      workspaceId,
      source: 'git',
      scope: 'acme/app',
      snapshotId: '1',
      observedAt: '2026-01-15T10:00:00Z',
      entities: [{ kind: 'file', key: 'file:a' }],
      relations: [],
    }
    await call(client, reconcileSnapshot, { body: snapshot })
    const found = await call(client, queryEntities, { body: { workspaceId, kinds: ['file'] } })
    assert.match(JSON.stringify(found), /file:a/)
    const { memoryStatus } = await call(client, getContext, { body: { query: 'a' } })
    assert.equal(memoryStatus, 'ok')
  })
})
