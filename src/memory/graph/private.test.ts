import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ContextPack } from '#contract/memory-context.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity, fact, itemsOf, recalling, textsOf } from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()

const about = { anchors: ['service:pay', 'db:main'] }

const hush = (who: string) => ({
  actor: { type: 'principal', id: who },
  data: { visibility: 'private' },
})

/** A namespace in which some speak openly and some only for themselves. */
function world() {
  const { tell, ask, search } = recalling(db)
  return {
    openly: async (content: string, more: object = {}) => (await tell({ content, ...more }))[0],
    privately: async (who: string, content: string, more: object = {}) =>
      (await tell({ content, ...hush(who), ...more }))[0],
    seenBy: (who: string, query = 'pay', more: object = {}) =>
      ask(query, { ...about, ...more, allowed_scopes: [`principal:${who}`, 'workspace:*'] }),
    found: (who: string, query: string) =>
      search(query, { allowed_scopes: [`principal:${who}`, 'workspace:*'] }),
  }
}

const all = (pack: ContextPack) => JSON.stringify(itemsOf(pack))
const facts = (pack: ContextPack) => itemsOf(pack).filter(({ kind }) => kind === 'fact')

describe('what is private about something that others speak of too', () => {
  it('is not shown to them although a shared fact named it first', async () => {
    const { openly, privately, seenBy } = world()
    await openly('Pay uses a database', { assertions: [fact('service:pay', 'USES', 'db:main')] })
    await privately('a', 'A note', {
      assertions: [entity('db:main', 'Hush', { properties: { tier: 'hush' } })],
    })
    assert.match(all(await seenBy('a')), /Hush/)
    assert.doesNotMatch(all(await seenBy('b')), /hush/i)
  })

  it('is kept apart from what another keeps private about it', async () => {
    const { privately, seenBy } = world()
    for (const who of ['a', 'b']) {
      await privately(who, `A note of ${who}`, {
        assertions: [
          entity('service:pay', `Hush of ${who}`),
          fact('service:pay', 'USES', 'db:main', { attributes: { said: `hush of ${who}` } }),
          { assert: 'text', text: { key: 'doc:pay', content: `The hush of ${who}` } },
        ],
      })
    }
    for (const [who, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const seen = all(await seenBy(who, 'hush', { anchors: ['service:pay', 'doc:pay'] }))
      assert.doesNotMatch(seen, new RegExp(`of ${other}`))
      for (const kind of ['entity', 'fact', 'chunk'])
        assert.match(seen, new RegExp(`"kind":"${kind}"`))
    }
  })

  it('gives way to what is shared, which carries nothing of it', async () => {
    const { openly, privately, seenBy } = world()
    await privately('a', 'A note', {
      at: '2026-01-01T00:00:00Z',
      assertions: [
        entity('service:pay', 'Hush', { properties: { tier: 'hush' } }),
        fact('service:pay', 'USES', 'db:main', { valid_to: '2030-01-01', attributes: { hush: 1 } }),
      ],
    })
    await privately('a', 'The same later', {
      at: '2026-01-03T00:00:00Z',
      assertions: [entity('service:pay', 'Hush')],
    })
    const shared = await openly('Pay', {
      at: '2026-01-02T00:00:00Z',
      assertions: [
        entity('service:pay', 'Payments', { properties: { owner: 'us' } }),
        fact('service:pay', 'USES', 'db:main'),
      ],
    })
    const seen = await seenBy('b')
    assert.doesNotMatch(all(seen), /hush|2030-01-01/i)
    assert.deepEqual(
      facts(seen).map(({ provenance }) => provenance['observation_ids']),
      [[shared]],
    )
    assert.match(all(await seenBy('a')), /Payments/)
  })

  it('does not lead to what others see by words that they do not', async () => {
    const { openly, privately, found } = world()
    await privately('a', 'A note', { assertions: [entity('db:main', 'Hush hush')] })
    await openly('Pay uses a database', { assertions: [fact('service:pay', 'USES', 'db:main')] })
    assert.deepEqual(await found('b', 'hush'), [])
  })
})

describe('something private', () => {
  it('neither ends, confirms nor replaces a fact that others know', async () => {
    const { openly, privately, seenBy } = world()
    const shared = await openly('Pay', { assertions: [fact('service:pay', 'USES', 'db:main')] })
    const [known] = facts(await seenBy('b'))
    await privately('a', 'It ended', {
      assertions: [fact('service:pay', 'USES', 'db:main', { valid_to: '2026-01-11' })],
    })
    await privately('a', 'It is replaced', {
      assertions: [fact('service:pay', 'USES', 'db:other', { supersedes: known?.id })],
    })
    const seen = facts(await seenBy('b'))
    assert.deepEqual(
      seen.map(({ text, provenance }) => [text, provenance['observation_ids']]),
      [['service:pay —USES→ db:main', [shared]]],
    )
    assert.match(all(await seenBy('a')), /db:other/)
  })

  it('replaces no observation but the own private one', async () => {
    const { openly, privately, seenBy } = world()
    const shared = await openly('Pay is shared')
    const own = await privately('a', 'Pay of a')
    const other = await privately('b', 'Pay of b')
    for (const [number, supersedes] of [shared, own, other].entries()) {
      await privately('a', `Pay again ${number}`, {
        at: '2026-01-11T00:00:00Z',
        data: { visibility: 'private', supersedes },
      })
    }
    const texts = textsOf(await seenBy('a'))
    assert.ok(texts.includes('Pay is shared') && !texts.includes('Pay of a'), String(texts))
    assert.ok(textsOf(await seenBy('b')).includes('Pay of b'))
  })
})
