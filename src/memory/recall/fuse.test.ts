import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bonusesOf, nudgeOf } from './bonuses.ts'
import { fuse, reciprocalRanks } from './fuse.ts'

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`)

describe('fuse', () => {
  it('adds the channels after dividing each by its maximum', () => {
    const fused = fuse({
      lexical: [
        { key: 'a', strength: 20 },
        { key: 'b', strength: 10 },
      ],
      graph: [{ key: 'b', strength: 0.3 }],
    })
    const of = (key: string) => fused.find((entry) => entry.key === key)
    assert.equal(of('a')?.score, 1)
    assert.equal(of('b')?.score, 0.75)
    assert.deepEqual(of('b')?.parts, { lexical: 0.5, graph: 0.25 })
    assert.deepEqual(of('b')?.channels.lexical, { rank: 1, score: 10 })
  })

  it('reports the reciprocal rank sum of the protocol', () => {
    near(
      reciprocalRanks({ lexical: { rank: 1, score: 0 }, graph: { rank: 0, score: 0 } }),
      1 / 62 + 0.7 / 61,
    )
  })

  it('survives a channel whose scores are all zero', () => {
    assert.equal(fuse({ recent: [{ key: 'a', strength: 0 }] })[0]?.score, 0)
  })
})

describe('bonusesOf', () => {
  it('names every bonus with the amount of the protocol', () => {
    const asOf = new Date('2024-05-15T00:00:00Z')
    const bonuses = bonusesOf(
      {
        text: 'Fix ERR_TIMEOUT now',
        scopes: ['task:1'],
        at: new Date('2024-05-01T00:00:00Z'),
        openFact: true,
        evidence: 'asserted',
        resolved: 'exact',
      },
      { identifiers: ['err_timeout'], scopes: new Set(['task:1']), asOf },
    )
    assert.deepEqual(bonuses, {
      identifier: 0.01,
      scope: 0.004,
      open_fact: 0.003,
      evidence: 0.006,
      recency: 0.0025,
      resolved_exact: 0.04,
    })
    assert.ok(nudgeOf(bonuses, 0) < 0.25)
    assert.ok(nudgeOf(bonuses, 0.3) > nudgeOf(bonuses, 0))
  })
})
