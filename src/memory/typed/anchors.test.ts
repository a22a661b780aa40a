import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity } from '../../../test/support/recalling.ts'
import { services } from '../../../test/support/typed.ts'

const db = await sharedMemoryDb()

describe('anchors of a traversal', () => {
  it('finds an anchor by key, kind and value, alias, identifier, placeholder and end, in this order', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'x',
      assertions: [
        entity('endpoint:GET /users/{id}/orders', 'Orders of a user'),
        entity('file:src/pay/retry_policy.ts', 'Retry policy'),
        entity('file:src/cart/retry_policy.ts', 'Retry policy'),
        entity('symbol:retry_policy', 'Symbol', { aliases: ['RetryPolicy'] }),
      ],
    })
    const one = async (anchor: object) => (await typed({ anchors: [anchor] })).anchors[0]
    const by = async (anchor: object) => {
      const found = await one(anchor)
      return [
        found?.matchedBy,
        ...(found?.resolved ?? []).flatMap(({ key, evidence }) => [key, evidence]),
      ]
    }
    assert.deepEqual(await by({ value: 'service:pay' }), ['natural_key', 'service:pay', 'asserted'])
    assert.deepEqual(await by({ kind: 'service', value: 'pay' }), [
      'natural_key',
      'service:pay',
      'asserted',
    ])
    assert.deepEqual(await by({ value: 'payments-api' }), ['alias', 'service:pay', 'asserted'])
    assert.deepEqual(await by({ value: 'where is RetryPolicy made?' }), [
      'id_pattern',
      'symbol:retry_policy',
      'extracted',
    ])
    assert.deepEqual(await by({ value: 'endpoint:GET /users/{userId}/orders' }), [
      'normalized',
      'endpoint:GET /users/{id}/orders',
      'asserted',
    ])
    assert.deepEqual(await by({ value: 'pay/retry_policy.ts' }), [
      'suffix',
      'file:src/pay/retry_policy.ts',
      'extracted',
    ])
    const ambiguous = await one({ value: 'retry_policy.ts' })
    assert.equal(ambiguous?.ambiguous, true)
    assert.deepEqual(ambiguous?.candidates?.map(({ key }) => key).toSorted(), [
      'file:src/cart/retry_policy.ts',
      'file:src/pay/retry_policy.ts',
    ])
    assert.equal((await one({ kind: 'database', value: 'service:pay' }))?.matchedBy, null)
    const nothing = await typed({ anchors: [{ value: 'service:none' }, { value: 'pay_%' }] })
    assert.deepEqual(nothing.unresolved, [
      { kind: null, value: 'service:none' },
      { kind: null, value: 'pay_%' },
    ])
  })

  it('tells when more answers to a name than it uses', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'x',
      assertions: Array.from({ length: 12 }, (_, i) => entity(`file:${i}/index.ts`, `Index ${i}`)),
    })
    const { anchors } = await typed({ anchors: [{ value: 'index.ts' }] })
    assert.equal(anchors[0]?.truncated, true)
    assert.equal(anchors[0]?.resolved.length, 10)
  })

  it('tries the next way to match an anchor when conditions leave nothing of the first', async () => {
    const { typed, tell } = await services(db)
    await tell({
      content: 'x',
      assertions: [
        entity('service:other', 'Other', { aliases: ['service:pay'], properties: { tier: 9 } }),
      ],
    })
    const { anchors } = await typed({
      anchors: [{ value: 'service:pay' }],
      where: [{ field: 'tier', op: 'eq', value: 9 }],
    })
    assert.equal(anchors[0]?.matchedBy, 'alias')
    assert.equal(anchors[0]?.filtered, 1)
  })

  it('stands for what is most like a description only when that is allowed', async () => {
    const { typed } = await services(db)
    const anchors = [{ value: 'which one is about payments' }]
    assert.equal((await typed({ anchors })).anchors[0]?.matchedBy, null)
    const { anchors: found, warnings } = await typed({
      anchors,
      allow_semantic: true,
      semantic_k: 1,
    })
    assert.equal(found[0]?.matchedBy, 'semantic')
    assert.deepEqual(
      found[0]?.resolved.map(({ key, evidence, matchedOn }) => [key, evidence, matchedOn]),
      [['service:pay', 'inferred', 'entity']],
    )
    assert.ok((found[0]?.resolved[0]?.score ?? 0) > 0)
    assert.equal(warnings.length, 1)
  })
})
