import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { capState, leftOf, reserve } from './caps.ts'
import type { Cap } from './caps.ts'
import { CapState } from '#contract/budgets.ts'
import { newId } from '#lib/id.ts'

const scope = { kind: 'principal', principalId: 'p' } as const
const quantity = fc.bigInt(0n, 20n)

const cap: fc.Arbitrary<Cap> = fc.record({
  name: fc.constant('maxTotalTokens' as const),
  scope: fc.constant(scope),
  limit: quantity,
  used: quantity,
  reserved: quantity,
  isCovered: fc.boolean(),
})

describe('a reservation', () => {
  it('never brings used and reserved over a bound, and is refused only where it would', () => {
    const wishes = fc.tuple(fc.option(fc.bigInt(1n, 20n)), fc.array(cap, { maxLength: 4 }))
    fc.assert(
      fc.property(wishes, ([asked, caps]) => {
        const binding = caps.filter(({ isCovered }) => !isCovered)
        const result = reserve(asked, caps)
        if ('refusedBy' in result) {
          assert.ok(binding.includes(result.refusedBy))
          assert.ok(leftOf(result.refusedBy) < (asked ?? 1n))
          return
        }
        const { reserved } = result
        for (const one of binding) assert.ok((reserved ?? 0n) <= leftOf(one))
        if (asked !== null) assert.equal(reserved, asked)
        else if (binding.length === 0) assert.equal(reserved, null)
        else assert.ok(binding.some((one) => leftOf(one) === reserved))
      }),
    )
  })

  it('shows no more tokens than the contract holds, whatever was told to be used', () => {
    const counted: Cap = {
      name: 'maxTotalTokens',
      scope,
      limit: 10n ** 15n,
      used: 2n ** 60n,
      reserved: 0n,
      isCovered: false,
    }
    const shown = CapState.parse({ ...capState(counted), principalId: newId() })
    assert.deepEqual([shown.used, shown.left], [Number.MAX_SAFE_INTEGER, 0])
  })

  it('shows a bound without less than nothing left', () => {
    const money: Cap = {
      name: 'maxMonthCost',
      scope,
      limit: 1_500_000_000_000n,
      used: 2_000_000_000_000n,
      reserved: 1n,
      isCovered: false,
    }
    const { limit, used, reserved, left } = capState(money)
    assert.deepEqual([limit, used, reserved, left], ['1.5', '2', '0.000000000001', '0'])
  })
})
