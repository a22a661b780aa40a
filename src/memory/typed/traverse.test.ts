import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity, fact } from '../../../test/support/recalling.ts'
import { keysOf, services, triplesOf } from '../../../test/support/typed.ts'

const db = await sharedMemoryDb()

describe('POST /api/memory/context/typed', () => {
  it('follows relations from an anchor, each step from where it says', async () => {
    const { typed, namespace } = await services(db)
    const pack = await typed({
      anchors: [{ value: 'service:pay' }],
      traverse: [
        { relation: 'calls' },
        { relation: 'USES', from: 'previous' },
        { relation: 'calls', direction: 'in' },
      ],
    })
    assert.deepEqual(keysOf(pack), ['queue:outbox', 'service:cart', 'service:mail', 'service:pay'])
    assert.deepEqual(triplesOf(pack).toSorted(), [
      'service:cart CALLS service:pay',
      'service:mail USES queue:outbox',
      'service:pay CALLS service:mail',
    ])
    assert.deepEqual(
      pack.sections.map(({ kind }) => kind),
      ['queue', 'service'],
    )
    const pay = pack.sections[1]?.items.find(({ key }) => key === 'service:pay')
    assert.deepEqual([pay?.anchor, pay?.evidence, pay?.title], [true, 'asserted', 'Payments'])
    assert.equal(pack.sections[0]?.items[0]?.placeholder, true)
    assert.deepEqual(
      pack.facts.map(({ fact_id: id }) => id),
      pack.facts.map(({ fact_id: id }) => id).toSorted(),
    )
    assert.deepEqual(
      pack.used.facts,
      pack.facts.map(({ fact_id: id }) => id),
    )
    assert.equal(pack.used.entities.length, 4)
    assert.deepEqual(pack.namespaces, [namespace])
    assert.deepEqual(
      pack.stats.steps.map(({ relation, entities, facts, truncated }) => {
        return [relation, entities, facts, truncated]
      }),
      [
        ['CALLS', 1, 1, false],
        ['USES', 1, 1, false],
        ['CALLS', 1, 1, false],
      ],
    )
  })

  it('goes as deep as asked and never in circles', async () => {
    const { typed, tell } = await services(db)
    await tell({ content: 'x', assertions: [fact('service:mail', 'CALLS', 'service:cart')] })
    const ask = async (depth: number, more: object = {}) =>
      keysOf(
        await typed({
          anchors: [{ value: 'service:cart' }],
          traverse: [{ relation: 'CALLS', depth, ...more }],
        }),
      )
    assert.deepEqual(await ask(1), ['service:cart', 'service:pay'])
    assert.deepEqual(await ask(2), ['service:cart', 'service:mail', 'service:pay'])
    assert.deepEqual(await ask(5), ['service:cart', 'service:mail', 'service:pay'])
    assert.deepEqual(await ask(1, { direction: 'both' }), [
      'service:cart',
      'service:mail',
      'service:pay',
    ])
  })

  it('keeps to what satisfies its conditions, whatever the operator', async () => {
    const { typed } = await services(db)
    const cases = [
      [[{ field: 'tier', op: 'eq', value: 1 }], ['service:pay']],
      [[{ field: 'tier', op: 'eq', value: '1' }], []],
      [[{ field: 'tier', op: 'in', value: [1, 3] }], ['service:mail', 'service:pay']],
      [[{ field: 'area', op: 'prefix', value: '62.01' }], ['service:mail', 'service:pay']],
      [[{ field: 'tier', op: 'gte', value: 2 }], ['service:mail']],
      [[{ field: 'since', op: 'lte', value: '2025-03-01T00:00:00Z' }], ['service:pay']],
      [[{ field: 'tags', op: 'eq', value: 'core' }], ['service:pay']],
      [[{ field: 'tags', op: 'exists', value: false }], ['service:mail']],
    ] as const
    for (const [where, expected] of cases) {
      const pack = await typed({
        anchors: [{ value: 'service:pay' }, { value: 'service:mail' }],
        where,
      })
      assert.deepEqual(keysOf(pack), expected, JSON.stringify(where))
    }
  })

  it('does not go on behind what its conditions refuse', async () => {
    const { typed } = await services(db)
    const pack = await typed({
      anchors: [{ value: 'service:cart' }],
      traverse: [{ relation: 'CALLS', depth: 3, where: [{ field: 'tier', op: 'eq', value: 3 }] }],
    })
    assert.deepEqual(keysOf(pack), ['service:cart'])
    assert.deepEqual(pack.facts, [])
    assert.equal(pack.stats.steps[0]?.filtered, 1)
  })

  it('stops at the limit of new entities and says so', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'x',
      assertions: Array.from({ length: 30 }, (_, i) => fact('service:pay', 'HAS', `part:${i}`)),
    })
    const pack = await typed({
      anchors: [{ value: 'service:pay' }],
      traverse: [{ relation: 'has', limit: 5 }],
    })
    assert.equal(pack.stats.entities, 6)
    assert.equal(pack.facts.length, 5)
    assert.equal(pack.stats.steps[0]?.truncated, true)
  })

  it('B2: tells states and relations as they were and as they were known', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'A new tier',
      at: '2026-03-01T00:00:00Z',
      assertions: [
        entity('service:pay', 'Payments 2', { properties: { tier: 4 } }),
        fact('service:pay', 'USES', 'database:archive', { valid_from: '2026-03-01' }),
      ],
    })
    const ask = async (more: object) => {
      const pack = await typed({
        anchors: [{ value: 'service:pay' }],
        traverse: [{ relation: 'USES' }],
        ...more,
      })
      const pay = pack.sections
        .flatMap(({ items }) => items)
        .find(({ key }) => key === 'service:pay')
      return [pay?.title, pay?.attributes.tier, ...keysOf(pack)]
    }
    const before = ['Payments', 1, 'database:ledger', 'service:pay']
    assert.deepEqual(await ask({ as_of: '2026-02-01T00:00:00Z' }), before)
    assert.deepEqual(await ask({}), [
      'Payments 2',
      4,
      'database:archive',
      'database:ledger',
      'service:pay',
    ])
    assert.deepEqual(await ask({ known_at: '2020-01-01T00:00:00Z' }), [undefined, undefined])
  })

  it('B18: neither resolves nor follows what the reader may not see', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'x',
      scopes: ['workspace:secret'],
      assertions: [
        entity('service:hidden', 'Hidden', { aliases: ['hush'] }),
        fact('service:pay', 'CALLS', 'service:hidden'),
        fact('service:hidden', 'CALLS', 'service:cart'),
      ],
    })
    const body = {
      anchors: [{ value: 'service:pay' }, { value: 'hush' }, { value: 'hidden' }],
      traverse: [{ relation: 'CALLS', depth: 3, direction: 'both' }],
    }
    const outside = await typed({ ...body, allowed_scopes: ['workspace:other'] })
    assert.doesNotMatch(JSON.stringify(outside), /service:hidden|Hidden/)
    const inside = await typed({ ...body, allowed_scopes: ['workspace:secret'] })
    assert.match(JSON.stringify(inside), /service:hidden/)
  })

  it('keeps namespaces apart and answers for several at once', async () => {
    const one = await services(db)
    const other = await services(db)
    await other.tell({
      content: 'x',
      assertions: [fact('service:pay', 'USES', 'database:elsewhere')],
    })
    const body = { anchors: [{ value: 'service:pay' }], traverse: [{ relation: 'USES' }] }
    assert.deepEqual(keysOf(await one.typed(body)), ['database:ledger', 'service:pay'])
    const both = await one.typed({
      ...body,
      scope: { namespaces: [one.namespace, other.namespace] },
    })
    assert.deepEqual(keysOf(both), [
      'database:elsewhere',
      'database:ledger',
      'database:ledger',
      'service:pay',
      'service:pay',
    ])
    assert.equal(both.anchors[0]?.ambiguous, undefined)
  })

  it('accepts camelCase and refuses what no step can be', async () => {
    const { typed, post, namespace } = await services(db)
    const pack = await typed({
      anchors: [{ value: 'service:pay' }],
      allowSemantic: true,
      semanticK: 2,
      asOf: '2026-02-01',
    })
    assert.equal(pack.as_of, '2026-02-01T00:00:00Z')
    for (const wrong of [
      { anchors: [] },
      { anchors: [{ value: '' }] },
      { traverse: [{ relation: 'R', depth: 6 }] },
      { traverse: [{ relation: 'R', limit: 0 }] },
      { traverse: [{ relation: 'R', direction: 'up' }] },
      { traverse: [{ relation: 'R', where: [{ field: 'a', op: 'lte', value: 'soon' }] }] },
      { where: [{ field: 'a', op: 'like', value: 'x' }] },
      { where: [{ field: 'a', op: 'exists', value: 1 }] },
    ]) {
      const { status } = await post('/api/memory/context/typed', {
        scope: { namespace },
        anchors: [{ value: 'service:pay' }],
        ...wrong,
      })
      assert.equal(status, 400, JSON.stringify(wrong))
    }
  })
})
