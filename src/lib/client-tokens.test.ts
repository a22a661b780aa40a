import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { CLIENT_SECRET, startIssuer } from '../../test/support/issuer.ts'
import { clientTokens } from './client-tokens.ts'
import type { ClientSettings } from './client-tokens.ts'
import { tokenVerifier } from './jwt.ts'

const AUDIENCE = 'memory-service'

/** A client of a real issuer whose tokens live for 120 s, by a clock of the test. */
async function client(t: TestContext, changes: Partial<ClientSettings> = {}) {
  const issuer = await startIssuer(['control-plane'], { t, ttlSeconds: 120 })
  let nowMs = 0
  const settings: ClientSettings = {
    issuer: issuer.url,
    tokenUrl: undefined,
    clientId: 'control-plane',
    clientSecret: CLIENT_SECRET,
    audience: AUDIENCE,
    scopes: ['memory:read', 'memory:service'],
    ...changes,
  }
  const after = (seconds: number) => (nowMs += seconds * 1000)
  return { issuer, after, settings, tokens: clientTokens(settings, () => nowMs) }
}

describe('tokens of a client', () => {
  it('are what the issuer gives for the audience and the scopes', async (t) => {
    const { issuer, tokens } = await client(t)
    const verify = tokenVerifier({
      issuer: issuer.url,
      jwksUrl: undefined,
      audience: AUDIENCE,
      leewaySeconds: 5,
    })
    const { subject, scopes } = await verify(await tokens.get())
    assert.equal(subject, 'control-plane')
    assert.deepEqual([...scopes], ['memory:read', 'memory:service'])
  })

  it('are used until 30 seconds before their end, by all who need one', async (t) => {
    const { issuer, after, tokens } = await client(t)
    const all = await Promise.all(Array.from({ length: 8 }, () => tokens.get()))
    assert.equal(new Set(all).size, 1)
    after(89)
    assert.equal(await tokens.get(), all[0])
    assert.equal(issuer.tokenRequests(), 1)
    after(2)
    assert.notEqual(await tokens.get(), all[0])
    assert.equal(issuer.tokenRequests(), 2)
  })

  it('are used to their end, and no longer, while the issuer does not answer', async (t) => {
    const { issuer, after, tokens } = await client(t)
    const token = await tokens.get()
    await issuer.close()
    after(119)
    assert.equal(await tokens.get(), token)
    after(2)
    await assert.rejects(() => tokens.get())
  })

  it('are forgotten when they are refused, and only those', async (t) => {
    const { tokens } = await client(t)
    const token = await tokens.get()
    tokens.drop('another')
    assert.equal(await tokens.get(), token)
    tokens.drop(token)
    assert.notEqual(await tokens.get(), token)
  })

  it('tell apart a client that is refused and an issuer that fails', async (t) => {
    const { tokens: wrong } = await client(t, { clientSecret: 'something else' })
    await assert.rejects(() => wrong.get(), { name: 'ClientRefused' })
    for (const [status, body] of [
      [500, {}],
      [200, '<html>'],
      [200, { access_token: '' }],
      [200, { access_token: 'x', token_type: 'mac' }],
      [302, {}],
    ] as const) {
      const { url } = await fakeServer(t, (_, response) => {
        if (status === 302) response.setHeader('location', 'http://127.0.0.1:1/')
        reply(response, status, body)
      })
      const { tokens } = await client(t, { tokenUrl: url })
      await assert.rejects(
        () => tokens.get(),
        (error: Error) => error.name !== 'ClientRefused',
      )
    }
  })

  it('never tell the secret of the client', async (t) => {
    const { settings } = await client(t)
    const { url } = await fakeServer(t, ({ headers }, response) =>
      reply(response, 401, { error: 'invalid_client', said: headers['authorization'] }),
    )
    const tokens = clientTokens({ ...settings, tokenUrl: url })
    const error: unknown = await tokens.get().catch((cause: unknown) => cause)
    const encoded = Buffer.from(`control-plane:${CLIENT_SECRET}`).toString('base64')
    const text = `${String(error)} ${JSON.stringify(error)}`
    assert.ok(!text.includes(CLIENT_SECRET) && !text.includes(encoded))
  })
})
