import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_LEASES, leasesOf, renewalWithin, ttlWithin } from './lease.ts'

describe('a lease', () => {
  it('is brought into its bounds, and keeps its length when renewed without a wish', () => {
    const { claim } = leasesOf({ sessionSeconds: 60, claimSeconds: 5 })
    assert.deepEqual(
      [undefined, -1, 0, 10, 77, 3600, 1e9].map((wish) => ttlWithin(claim, wish)),
      [10, 10, 10, 10, 77, 3600, 3600],
    )
    assert.equal(ttlWithin(DEFAULT_LEASES.session, undefined), 300)
    assert.equal(renewalWithin(claim, undefined), undefined)
    assert.equal(renewalWithin(claim, 0), 10)
  })
})
