import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import type { WireAnswer } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

const PHONE = '+7 916 123-45-67'
const EMAIL = 'ivan@example.org'

/** A memory where one key is cleared for personal data and one is not, with something to be read. */
async function guarded() {
  const apiKeys = JSON.stringify([
    { key: 'cleared', grants: [{ prefix: '', read: true, write: true }], pii: true },
    { key: 'plain', grants: [{ prefix: '', read: true, write: true }] },
  ])
  const memory = testMemory(db, { apiKeys, piiProtection: true })
  const { namespace, post, get } = memory
  const scope = { namespace }
  const provenance = { trace_id: 'people' }
  const contact = { properties: { phone: PHONE, nested: { mail: [EMAIL] } }, provenance }
  await post(
    '/api/brain/facts',
    { scope, natural_key: `person:${EMAIL}`, type: 'person', title: `Walrus ${PHONE}`, ...contact },
    'plain',
  )
  await post('/api/brain/retain', { scope, content: `Call walrus: ${PHONE}`, provenance }, 'plain')
  await post(
    '/api/memory/observations',
    {
      scope,
      kind: 'note',
      content: `Walrus writes from ${EMAIL}`,
      assertions: [
        {
          assert: 'fact',
          fact: { subject: `person:${EMAIL}`, predicate: 'uses', object: 'app:a' },
        },
      ],
    },
    'plain',
  )
  const read = (key: string): Promise<WireAnswer>[] => [
    post('/api/brain/search', { scope, query: `walrus ${EMAIL}` }, key),
    post('/api/memory/context', { scope, query: 'walrus', anchors: [`person:${EMAIL}`] }, key),
    post('/api/memory/entities:query', { scope, kinds: ['person'] }, key),
    get(`/api/brain/trace/people?namespace=${namespace}`, key),
  ]
  const released = async () => {
    const rows = await db<{ details: { categories: string[]; route: string } }[]>`
      select details
      from audit_events
      where action = 'pii_access'
        and namespace_id = (select id from namespaces where namespace = ${namespace})`
    return rows.map(({ details }) => details)
  }
  return { namespace, read, released }
}

describe('protected personal data', () => {
  it('is masked at any depth on every surface for who is not cleared', async () => {
    const { read, released } = await guarded()
    for (const { status, body } of await Promise.all(read('plain'))) {
      const text = JSON.stringify(body)
      assert.equal(status, 200, text)
      assert.equal(body.pii_masked, true, text)
      assert.match(text, /\[ПДн:(phone|email)\]/)
      assert.doesNotMatch(text, /916 123|ivan@example/)
    }
    assert.deepEqual(await released(), [])
  })

  it('is told to who is cleared, and the trail tells of each time', async () => {
    const { read, released } = await guarded()
    const answers = await Promise.all(read('cleared'))
    for (const { body } of answers) {
      assert.equal(body.pii_masked, undefined)
      assert.match(JSON.stringify(body), /916 123|ivan@example/)
    }
    const told = await released()
    assert.equal(told.length, answers.length)
    assert.ok(told.every(({ categories }) => categories.length > 0))
  })

  it('is labelled where it is stored', async () => {
    const { namespace } = await guarded()
    const rows = await db`
      select properties ->> 'pii' as pii, properties -> 'pii_categories' as categories
      from nodes
      where namespace_id = (select id from namespaces where namespace = ${namespace})
        and kind in ('person', 'note')
        and not placeholder
      order by kind`
    assert.deepEqual(
      rows.map(({ pii, categories }) => [pii, categories]),
      [
        ['true', ['phone']],
        ['true', ['email', 'phone']],
      ],
    )
  })
})
