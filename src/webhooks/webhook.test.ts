import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { retryDelay } from './webhook.ts'

const SPEC = { baseSeconds: 2, maxSeconds: 300 }
const now = { random: 1, retryAfterSeconds: null }

describe('the pause before another attempt', () => {
  it('doubles from 2 to 300 seconds', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((n) => retryDelay(SPEC, n, now))
    assert.deepEqual(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  it('is at least half of that, and what the receiver asks for as far as it goes', () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    const asked = fc.option(fc.integer({ min: 0, max: 999_999 }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), random, asked, (n, lot, retryAfterSeconds) => {
        const pause = retryDelay(SPEC, n, { random: lot, retryAfterSeconds })
        const longest = retryDelay(SPEC, n, now)
        assert.ok(pause >= longest / 2 && pause <= SPEC.maxSeconds)
        assert.ok(pause >= Math.min(retryAfterSeconds ?? 0, SPEC.maxSeconds))
      }),
    )
  })
})
