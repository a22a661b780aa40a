import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PROFILES, bm25, inverseFrequency } from './bm25.ts'

describe('bm25', () => {
  it('follows the published formula', () => {
    const idf = inverseFrequency(100, 4)
    assert.equal(idf, Math.log(1 + 96.5 / 4.5))
    const score = bm25({ tfs: [2], length: 20 }, [idf], 10, { k1: 1.2, b: 0.75 })
    assert.ok(Math.abs(score - (idf * 2 * 2.2) / (2 + 1.2 * (0.25 + 0.75 * 2))) < 1e-12)
  })

  it('prefers rare terms, repetition and short items, and never goes below zero', () => {
    const weights = [inverseFrequency(1000, 3), inverseFrequency(1000, 900)]
    const score = (tfs: number[], length: number) =>
      bm25({ tfs, length }, weights, 20, PROFILES.short)
    assert.ok(score([1, 0], 20) > score([0, 3], 20))
    assert.ok(score([2, 0], 20) > score([1, 0], 20))
    assert.ok(score([1, 0], 10) > score([1, 0], 40))
    assert.ok(inverseFrequency(10, 10) > 0)
    assert.equal(score([0, 0], 20), 0)
  })
})
