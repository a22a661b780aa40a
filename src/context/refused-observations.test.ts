import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { recordObservation } from '#contract/observations.ts'
import type { NewObservation } from '#contract/observations.ts'
import { contextTenant } from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

const FINDING = { kind: 'finding', content: 'The cache is never warm' } as const

describe('a refused observation', () => {
  it('answers observation_invalid without repeating a value', async () => {
    const { client, ctx } = await contextTenant(db)
    const fact = { subject: 'a:b', predicate: 'P', object: 'c:d' }
    const wrong: Record<string, object> = {
      kind: { kind: 'SESAME kind' },
      'kind ': { kind: 7 },
      content: { content: '   ' },
      'content ': { content: 'x'.repeat(65_537) },
      visibility: { data: { visibility: 'SESAME' } },
      data: { data: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, n])) },
      'data ': { data: ['SESAME'] },
      assert: { assertions: [{ assert: 'SESAME' }] },
      extra: { assertions: [{ assert: 'fact', fact: { ...fact, namespace: 'SESAME' } }] },
      extraSnake: { assertions: [{ assert: 'fact', fact: { ...fact, valid_from: 'SESAME' } }] },
      subject: { assertions: [{ assert: 'fact', fact: { ...fact, subject: 'SESAME' } }] },
      confidence: { assertions: [{ assert: 'fact', fact: { ...fact, confidence: 1.5 } }] },
      interval: {
        assertions: [
          {
            assert: 'fact',
            fact: { ...fact, validFrom: '2026-01-02T00:00:00Z', validTo: '2026-01-01T00:00:00Z' },
          },
        ],
      },
      many: { assertions: Array.from({ length: 201 }, () => ({ assert: 'fact', fact })) },
      source: { source: 'SESAME!' },
      dedupKey: { dedupKey: 'SESAME' },
      externalRef: { externalRef: { system: 'x', id: 'SESAME' } },
      url: { source: 's', externalRef: { system: 'x', id: 'y', url: 'javascript:SESAME' } },
    }
    for (const [name, change] of Object.entries(wrong)) {
      const response = await raw(client, { ...FINDING, ...change })
      const text = await response.text()
      assert.equal(response.status, 422, `${name}: ${text}`)
      assert.match(text, /"observation_invalid"/, name)
      assert.ok(!text.includes('SESAME'), `${name} echoes: ${text}`)
    }
    const [stored] = await db`
      select count(*)::int as count from observations where tenant_id = ${ctx.tenantId}`
    assert.equal(stored?.['count'], 0)
  })

  it('lists the kinds that everybody knows', async () => {
    const { client } = await contextTenant(db)
    const response = await raw(client, { ...FINDING, kind: 'Not A Kind' })
    const { error } = (await response.json()) as { error: { details: { baselineKinds: string[] } } }
    assert.ok(error.details.baselineKinds.includes('decision'))
  })

  it('is invalid_request where the request itself is no request', async () => {
    const { client } = await contextTenant(db)
    for (const change of [
      { colour: 'red' },
      { observedAt: '2026-02-31T00:00:00Z' },
      { observedAt: '2026-01-01T00:00:00' },
      { workspaceId: 'w' },
      { task: 'x y' },
      { content: 'a\u0000b' },
    ]) {
      const response = await raw(client, { ...FINDING, ...change })
      assert.equal(response.status, 400, JSON.stringify(change))
    }
  })

  it('is secret_refused when a credential stands anywhere in it, without echoing it', async () => {
    const { client } = await contextTenant(db)
    const token = `ghp_${'A1b2C3d4E5'.repeat(4).slice(0, 36)}`
    const places: Record<string, object> = {
      'body.content': { content: `use ${token} for it` },
      'body.data.auth.0': { data: { auth: [token] } },
      'body.assertions.0.entity.properties.note': {
        assertions: [
          { assert: 'entity', entity: { key: 'a:b', type: 't', properties: { note: token } } },
        ],
      },
      'body.externalRef.url': {
        source: 's',
        externalRef: { system: 'x', id: 'y', url: `https://example.com/?t=${token}` },
      },
      'body.data.password': { data: { password: 'correct-horse-9-battery' } },
      'body.data.dbPassword': { data: { dbPassword: 'correct-horse-9-battery' } },
      'body.data.old.passwords.0.secret.1': {
        data: { old: { passwords: [{ secret: ['x', 'correct-horse-9-battery'] }] } },
      },
      'body.data.remote': { data: { remote: 'https://me:correct-horse-9-battery@git.test/a' } },
    }
    for (const [pointer, change] of Object.entries(places)) {
      const response = await raw(client, { ...FINDING, ...change })
      const text = await response.text()
      assert.equal(response.status, 422, `${pointer}: ${text}`)
      assert.ok(!text.includes(token) && !text.includes('correct-horse'), text)
      const { error } = JSON.parse(text) as { error: { code: string; details: object } }
      assert.equal(error.code, 'secret_refused')
      assert.equal((error.details as { pointer: string }).pointer, pointer)
      assert.ok('kind' in error.details)
    }
  })
})

/** Sends what no typed caller could. */
async function raw(client: ClientOptions, body: object): Promise<Response> {
  return await send(client, recordObservation, { body: body as NewObservation })
}
