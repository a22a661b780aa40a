import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { estimate, metricsOf } from './metrics.ts'

describe('judging a ranking', () => {
  it('counts each answer once, at its first place, among the first ten', () => {
    const ranking = ['a', 'x', 'a', 'b', ...Array.from({ length: 8 }, (_, n) => `n${n}`), 'c']

    const metrics = metricsOf(ranking, ['x', 'b', 'c', 'c'])

    assert.equal(metrics.any10, 1)
    assert.equal(metrics.recall10, 2 / 3)
    assert.equal(metrics.mrr10, 1 / 2)
    const gain = 1 / Math.log2(3) + 1 / Math.log2(4)
    const best = 1 + 1 / Math.log2(3) + 1 / Math.log2(4)
    assert.ok(Math.abs(metrics.ndcg10 - gain / best) < 1e-12)
  })

  it('gives nothing to a ranking without an answer', () => {
    const none = { any10: 0, recall10: 0, ndcg10: 0, mrr10: 0 }
    assert.deepEqual(metricsOf(['a'], ['b']), none)
    assert.deepEqual(metricsOf([], ['b']), none)
  })

  it('bounds a mean the closer the more values there are', () => {
    const some = Array.from({ length: 100 }, (_, n) => n % 2)
    const many = Array.from({ length: 10_000 }, (_, n) => n % 2)
    const wide = estimate(some)
    const close = estimate(many)
    assert.equal(wide.mean, 0.5)
    assert.ok(wide.low < 0.5 && wide.high > 0.5)
    assert.ok(close.high - close.low < wide.high - wide.low)
  })
})
