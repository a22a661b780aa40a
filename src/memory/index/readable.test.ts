import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { microsOf } from './readable.ts'

describe('microsOf', () => {
  for (const [iso, micros] of [
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.000001Z', 1],
    ['1970-01-01T00:00:01.5Z', 1_500_000],
    ['2026-12-01T04:04:09.123456Z', 1_796_097_849_123_456],
    ['1969-12-31T23:59:59.999999Z', -1],
  ] as const) {
    it(`reads ${iso} to the microsecond`, () => assert.equal(microsOf(iso), micros))
  }
})
