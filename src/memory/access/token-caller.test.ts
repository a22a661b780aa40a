import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { tokenVerifier } from '#lib/jwt.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { startIssuer } from '../../../test/support/issuer.ts'
import { decision, external, testMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()
const tenant = randomUUID()
const issuer = await startIssuer(['agent', 'core', 'reader', 'nobody'])
issuer.claims.set('agent', { tenant_id: `${tenant}:1`, memory_namespaces: [`team:${tenant}`] })
issuer.claims.set('reader', { tenant_id: `${tenant}:1`, principal_type: 'agent' })
const verifyToken = tokenVerifier({
  issuer: issuer.url,
  jwksUrl: `${issuer.url}/jwks`,
  audience: 'memory-service',
  leewaySeconds: 5,
})
const memory = testMemory(db, { verifyToken })

const tokenOf = (client: string, scope: string, audience = 'memory-service') =>
  issuer.token(client, { scope, audience })

async function record(token: string | undefined, namespace: string): Promise<number> {
  const observation = { ...decision(external(1)), scope: { namespace } }
  return (await memory.post('/api/memory/observations', observation, token)).status
}

async function read(token: string | undefined, namespace: string): Promise<number> {
  const body = { query: 'migrations', scope: { namespaces: [namespace] } }
  return (await memory.post('/api/memory/context', body, token)).status
}

const own = `tenant:${tenant}:1`

describe('the holder of an access token', () => {
  it('uses its own tenant and what is below it, and the namespaces it names', async () => {
    const token = await tokenOf('agent', 'memory:read memory:write')
    for (const namespace of [own, `${own}:ws:a`, `team:${tenant}`, `team:${tenant}:deep`]) {
      assert.equal(await record(token, namespace), 201, namespace)
      assert.equal(await read(token, namespace), 200, namespace)
    }
  })

  it('does not use a namespace whose name only begins like one of its own', async () => {
    const token = await tokenOf('agent', 'memory:read memory:write')
    for (const namespace of [`${own}0`, `tenant:${tenant}`, `team:${tenant}x`, 'nexus']) {
      assert.equal(await record(token, namespace), 403, namespace)
      assert.equal(await read(token, namespace), 403, namespace)
    }
  })

  it('reads or writes only where the scope says so', async () => {
    const reading = await tokenOf('reader', 'memory:read')
    assert.deepEqual([await record(reading, own), await read(reading, own)], [403, 200])
    const writing = await tokenOf('reader', 'memory:write')
    assert.deepEqual([await record(writing, `${own}:w`), await read(writing, own)], [201, 403])
    const neither = await tokenOf('reader', 'control-plane:read')
    assert.deepEqual([await record(neither, own), await read(neither, own)], [403, 403])
  })

  it('reaches every tenant, and nothing else, with the scope for it', async () => {
    const token = await tokenOf('core', 'memory:read memory:write memory:tenants')
    assert.equal(await record(token, `tenant:${tenant}:7`), 201)
    assert.equal(await record(token, `team:${tenant}`), 403)
  })

  it('has nothing without a tenant, a namespace or such a scope', async () => {
    const token = await tokenOf('nobody', 'memory:read memory:write')
    assert.equal(await read(token, 'nexus'), 403)
  })

  it('is refused with a token for another audience, a forged one, or none', async () => {
    const other = await tokenOf('agent', 'memory:read', 'control-plane')
    for (const token of [other, `${other}x`, 'a.b.c', 'some-key', undefined]) {
      assert.equal(await read(token, own), 401, token)
    }
  })
})

describe('memory that accepts access tokens', () => {
  it('accepts its keys as before', async () => {
    const both = testMemory(db, { verifyToken, serverApiKey: 'the-key-of-this-memory' })
    const body = { query: 'x', scope: { namespaces: [both.namespace] } }
    const ask = async (token?: string) =>
      (await both.post('/api/memory/context', body, token)).status
    assert.deepEqual([await ask('the-key-of-this-memory'), await ask()], [200, 401])
  })

  it('lets nobody in while the keys of the issuer cannot be had', async () => {
    const gone = await startIssuer(['agent'])
    const verify = tokenVerifier({
      issuer: gone.url,
      jwksUrl: `${gone.url}/jwks`,
      audience: 'memory-service',
      leewaySeconds: 5,
    })
    const token = await gone.token('agent', { audience: 'memory-service', scope: 'memory:read' })
    await gone.close()
    const closed = testMemory(db, { verifyToken: verify })
    const { status, body } = await closed.post('/api/memory/context', { query: 'x' }, token)
    assert.equal(status, 503)
    assert.equal(body.code, 'iam_unavailable')
  })
})
