import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sha256 } from '#lib/id.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { memoryTables } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

const fact = (subject: unknown, predicate: string, object: unknown, more: object = {}) => ({
  assert: 'fact',
  fact: { subject, predicate, object, ...more },
})

const limit = (value: string, more: object = {}) => fact('api:pay', 'has limit', value, more)

const observed = (id: string, on: number, assertions: object[], more: object = {}) => ({
  source: { system: 'chat', stream: 'main', external_id: id },
  kind: 'finding',
  content: id,
  occurred_at: `2026-01-${String(on).padStart(2, '0')}T00:00:00Z`,
  assertions,
  ...more,
})

const day = (moment: Date | null) => moment?.toISOString().slice(8, 10) ?? ''

function facts() {
  const tables = memoryTables(db)
  const { namespace, record, batch, rows } = tables
  return {
    ...tables,
    tell: async (id: string, on: number, assertions: object[], more: object = {}) =>
      (await record(observed(id, on, assertions, more))).body,
    tellAll: (observations: object[]) => batch(observations),
    idOf: (object: string, validFrom = '', subject = 'api:pay') =>
      `fact-${sha256([namespace, subject, 'HAS_LIMIT', object, validFrom].join('|')).slice(0, 24)}`,
    /** Every fact as `object from-to`, the days of January. */
    intervals: async () =>
      (await rows('edges')).map((row) => {
        return `${row['object']} ${day(row['startsAt'])}-${day(row['validTo'])}`
      }),
  }
}

describe('a fact', () => {
  it('is found by an id that can be computed, however its predicate is written', async () => {
    const { tell, rows, idOf } = facts()
    await tell('1', 1, [limit('100')])
    await tell('2', 2, [fact('api:pay', 'HAS_LIMIT', '100', { confidence: 0.5 })])
    const stored = await rows('edges')
    assert.deepEqual(
      stored.map(({ factId, predicate, confidence, observationIds }) => [
        factId,
        predicate,
        confidence,
        observationIds.length,
      ]),
      [[idOf('100'), 'HAS_LIMIT', 1, 2]],
    )
  })

  it('makes placeholders of ends that nobody described, which give way to what is told', async () => {
    const { tell, rows } = facts()
    await tell('1', 5, [
      fact({ type: 'service', id: 'a', title: 'Service A' }, 'uses', {
        key: 'db',
        type: 'database',
      }),
    ])
    const ends = async () =>
      (await rows('nodes'))
        .filter(({ validTo, retiredAt }) => validTo === null && retiredAt === null)
        .map(({ key, kind, title, placeholder, properties }) => [
          key,
          kind,
          title,
          placeholder,
          properties,
        ])
    assert.deepEqual(await ends(), [
      ['service:a', 'service', 'Service A', true, {}],
      ['db', 'database', 'db', true, {}],
    ])
    await tell('2', 7, [
      { assert: 'entity', entity: { key: 'service:a', type: 'service', properties: { v: 1 } } },
    ])
    assert.deepEqual((await ends())[1], ['service:a', 'service', 'Service A', false, { v: 1 }])
    assert.equal((await rows('nodes')).length, 3)
  })

  it('keeps when it holds to the second, as given with or without a zone', async () => {
    const { tell, rows, idOf } = facts()
    const interval = { validFrom: '2026-01-02T03:00:00.9+03:00', validTo: '2026-02-01' }
    await tell('1', 1, [limit('100', interval)])
    const [row] = await rows('edges')
    assert.equal(row?.factId, idOf('100', '2026-01-02T00:00:00Z'))
    assert.equal(row?.validFrom.toISOString(), '2026-01-02T00:00:00.000Z')
    assert.equal(row?.validTo.toISOString(), '2026-02-01T00:00:00.000Z')
  })

  it('ends where its successor begins, in whichever order they are told', async () => {
    const first = facts()
    await first.tell('1', 1, [limit('100')])
    await first.tell('2', 5, [limit('110', { supersedes: first.idOf('100') })])
    const second = facts()
    await second.tell('2', 5, [limit('110', { supersedes: second.idOf('100') })])
    await second.tell('1', 1, [limit('100')])
    const third = facts()
    await third.tellAll([
      observed('2', 5, [limit('110', { supersedes: third.idOf('100') })]),
      observed('1', 1, [limit('100')]),
    ])
    for (const { intervals, rows, idOf } of [first, second, third]) {
      assert.deepEqual((await intervals()).toSorted(), ['100 01-05', '110 05-'])
      const old = (await rows('edges')).find(({ object }) => object === '100')
      assert.equal(old?.['supersededBy'], idOf('110'))
    }
  })

  it('holds anew when it is told again after its end', async () => {
    const { tell, intervals, idOf } = facts()
    await tell('1', 1, [limit('100')])
    await tell('2', 5, [limit('110', { supersedes: idOf('100') })])
    await tell('3', 9, [limit('100', { supersedes: idOf('110') })])
    await tell('0', 2, [limit('100')])
    assert.deepEqual((await intervals()).toSorted(), ['100 01-05', '100 09-', '110 05-09'])
  })

  it('is as true as its best evidence, from its first', async () => {
    const { tell, rows } = facts()
    await tell('1', 5, [limit('100', { confidence: 0.3 })])
    await tell('2', 2, [limit('100', { confidence: 7 })])
    const [row] = await rows('edges')
    assert.equal(row?.confidence, 1)
    assert.equal(row?.startsAt.toISOString(), '2026-01-02T00:00:00.000Z')
  })

  it('is not told by one who cannot see its ends or itself, and hides nothing by being refused', async () => {
    const { tell, rows } = facts()
    const a = { scopes: ['workspace:a'] }
    await tell('1', 1, [{ assert: 'entity', entity: { key: 'api:pay', type: 'api' } }], a)
    const b = { scopes: ['workspace:b'], allowed_scopes: ['workspace:b'] }
    const refused = await tell('2', 2, [limit('100'), fact('x', 'is', 'y')], b)
    assert.equal(refused.status, 'partially_processed')
    assert.match(refused.status_detail, /^assertions\.0: Cannot write/)
    assert.deepEqual(
      (await rows('edges')).map(({ subject, audience }) => [subject, audience]),
      [['x', ['workspace:b']]],
    )
    const other = await tell('3', 3, [fact('x', 'is', 'y')], {
      ...a,
      allowed_scopes: ['workspace:a'],
    })
    assert.equal(other.status, 'failed')
  })

  it('cannot be ended by one who does not see it', async () => {
    const { tell, intervals, idOf } = facts()
    await tell('1', 1, [limit('100')], { scopes: ['workspace:a'] })
    await tell('2', 5, [fact('z', 'is', 'w', { supersedes: idOf('100') })], {
      scopes: ['workspace:b'],
      allowed_scopes: ['workspace:b'],
    })
    assert.deepEqual(await intervals(), ['100 01-', 'w 05-'])
  })
})

describe('assertions', () => {
  it('are used one by one, and a faulty one says where it is wrong without its values', async () => {
    const { tell, rows } = facts()
    const body = await tell('1', 1, [
      limit('100'),
      { assert: 'fact', fact: { subject: 'SESAME', predicate: 'is' } },
      { assert: 'guess' },
      limit('110', { valid_from: 'SESAME' }),
      limit('120', { valid_from: '2026-02-01', valid_to: '2026-01-01' }),
      { assert: 'entity', entity: { properties: { a: 1 } } },
      { assert: 'text', text: { content: ' ' } },
      limit('130', { confidnce: 1 }),
    ])
    assert.equal(body.status, 'partially_processed')
    assert.match(body.status_detail, /assertions\.1: fact\.object/)
    assert.match(body.status_detail, /assertions\.7: fact\.confidnce is not known/)
    assert.equal(body.status_detail.split('; ').length, 7)
    assert.doesNotMatch(body.status_detail, /SESAME/)
    assert.equal((await rows('edges')).length, 1)
    const [stored] = await rows('observations')
    assert.equal(stored?.assertions.length, 8)
  })

  it('of texts become chunks of a note, which a later text of the same key replaces', async () => {
    const { tell, rows } = facts()
    await tell('1', 1, [{ assert: 'text', text: { content: 'First line\nmore' } }])
    await tell('2', 2, [{ assert: 'text', text: { key: 'note:a', text: 'old', type: 'memo' } }])
    await tell('3', 4, [{ assert: 'text', text: { key: 'note:a', text: 'new' } }])
    await tell('4', 3, [{ assert: 'text', text: { key: 'note:a', text: 'between' } }])
    const chunks = (await rows('chunks')).map((row) => [
      row['text'],
      row['title'],
      row['docType'],
      row['validFrom'].toISOString().slice(8, 10),
      row['validTo']?.toISOString().slice(8, 10),
    ])
    assert.deepEqual(chunks, [
      ['First line\nmore', 'First line', 'note', '01', undefined],
      ['old', 'old', 'memo', '02', '04'],
      ['new', 'new', 'note', '04', undefined],
      ['between', 'between', 'note', '03', '04'],
    ])
  })
})
