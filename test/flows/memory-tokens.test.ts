import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { Observation } from '#adapter/mapping.ts'
import { createMemorySink } from '#adapter/memory-sink.ts'
import { call } from '#client/client.ts'
import { askMemory } from '#client/memory.ts'
import type { MemoryOptions } from '#client/memory.ts'
import { getContext } from '#contract/context.ts'
import { reconcile } from '#contract/memory-reconcile.ts'
import { health, listStreams } from '#contract/memory.ts'
import { clientTokens } from '#lib/client-tokens.ts'
import type { ClientTokens } from '#lib/client-tokens.ts'
import { newId } from '#lib/id.ts'
import { tokenVerifier } from '#lib/jwt.ts'
import { contextClient, providerAt } from '../support/context.ts'
import { testTenant } from '../support/ctx.ts'
import { sharedDb, sharedMemoryDb } from '../support/db.ts'
import { fakeServer, reply } from '../support/http-server.ts'
import { CLIENT_SECRET, startIssuer } from '../support/issuer.ts'
import { testMemory } from '../support/memory.ts'

const db = await sharedDb()
const memoryDb = await sharedMemoryDb()
const soon = () => ({ signal: AbortSignal.timeout(10_000) })
const SCOPES = ['memory:read', 'memory:write', 'memory:tenants', 'memory:service']

/** A memory that accepts the tokens of an issuer alone, and the control plane as a client of that. */
async function memoryWithTokens(t: TestContext, scopes = SCOPES) {
  const issuer = await startIssuer(['control-plane'], { t })
  const verifyToken = tokenVerifier({
    issuer: issuer.url,
    jwksUrl: undefined,
    audience: 'memory-service',
    leewaySeconds: 5,
  })
  const memory = testMemory(memoryDb, { verifyToken, coreIdentities: [] })
  const tokens = clientTokens({
    issuer: issuer.url,
    tokenUrl: undefined,
    clientId: 'control-plane',
    clientSecret: CLIENT_SECRET,
    audience: 'memory-service',
    scopes,
  })
  const options: MemoryOptions = {
    url: 'http://memory.test',
    apiKey: 'no key of this memory',
    tokens,
    fetch: memory.fetch,
  }
  return { issuer, options }
}

/** Tokens that are given in turn. */
function givenTokens(...given: string[]): ClientTokens & { dropped: string[] } {
  const dropped: string[] = []
  return {
    dropped,
    get: () => Promise.resolve(given[Math.min(dropped.length, given.length - 1)] ?? ''),
    drop: (token) => void dropped.push(token),
  }
}

const OBSERVATION: Observation = {
  source: { system: 'control-plane', stream: 'domain-events', external_id: newId() },
  kind: 'finding',
  occurred_at: '2026-01-15T10:00:00Z',
  subject: { type: 'task', id: newId() },
  scopes: [],
  content: 'Payouts are retried twice',
  data: {},
  provenance: { uri: 'urn:test' },
}

const snapshot = (namespace: string) => ({
  namespace,
  source: 'git',
  scope: 'acme/app',
  snapshot_id: '1',
  observed_at: '2026-01-15T10:00:00Z',
  entities: [],
  relations: [],
})

describe('the control plane with access tokens of its own', () => {
  it('asks memory for a context', async (t) => {
    const { options } = await memoryWithTokens(t)
    const tenant = await testTenant(db)
    const provider = { ...providerAt(options.url), ...options }
    const client = contextClient(db, tenant.key, provider)
    const { memoryStatus } = await call(client, getContext, { body: { query: 'payouts' } })
    assert.equal(memoryStatus, 'ok')
  })

  it('delivers the journal of every tenant', async (t) => {
    const { options, issuer } = await memoryWithTokens(t)
    const sink = createMemorySink({
      memory: options,
      namespacePrefix: 'tenant:',
      timeoutSeconds: 10,
      traceRunId: 'adapter_test',
    })
    const position = { journalEpoch: 1, txId: '7', sequence: '1' }
    for (const tenantId of [newId(), newId()]) {
      const batch = { tenantId, observations: [OBSERVATION], position }
      assert.deepEqual(await sink(batch, soon().signal), { kind: 'confirmed', duplicates: 0 })
    }
    assert.equal(issuer.tokenRequests(), 1)
  })

  it('may do what memory leaves to the platform, which others may not', async (t) => {
    const body = snapshot(`tenant:${newId()}`)
    const asPlatform = await memoryWithTokens(t)
    const done = await askMemory(asPlatform.options, reconcile, { body }, soon())
    assert.equal(done.kind, 'ok')
    const other = await memoryWithTokens(
      t,
      SCOPES.filter((scope) => scope !== 'memory:service'),
    )
    const refused = await askMemory(other.options, reconcile, { body }, soon())
    assert.ok(refused.kind === 'refused' && refused.status === 403)
  })

  it('drops a token that is refused, and asks once more with another one', async (t) => {
    const { url, heard } = await fakeServer(t, ({ headers }, response) => {
      const isGood = headers['authorization'] === 'Bearer new'
      reply(response, isGood ? 200 : 401, {})
    })
    const query = { namespace: 'tenant:1' }
    const tokens = givenTokens('old', 'new')
    const answer = await askMemory({ url, apiKey: '', tokens }, listStreams, { query }, soon())
    assert.deepEqual([answer.kind, tokens.dropped, heard.length], ['ok', ['old'], 2])

    const only = givenTokens('old')
    const refused = await askMemory(
      { url, apiKey: '', tokens: only },
      listStreams,
      { query },
      soon(),
    )
    assert.ok(refused.kind === 'refused' && refused.status === 401)
    assert.equal(heard.length, 3)
  })

  it('takes an issuer that refuses it for a memory that does, and one that fails for none', async (t) => {
    const { options, issuer } = await memoryWithTokens(t)
    const query = { namespace: 'tenant:1' }
    const stranger = clientTokens({
      issuer: issuer.url,
      tokenUrl: undefined,
      clientId: 'stranger',
      clientSecret: 'x',
      audience: 'memory-service',
      scopes: SCOPES,
    })
    const refused = await askMemory(
      { ...options, tokens: stranger },
      listStreams,
      { query },
      soon(),
    )
    assert.ok(refused.kind === 'refused' && refused.status === 401)
    await issuer.close()
    const failed = await askMemory(options, listStreams, { query }, soon())
    assert.equal(failed.kind, 'unreachable')
    const probed = await askMemory(options, health, {}, soon())
    assert.equal(probed.kind, 'ok')
  })
})
