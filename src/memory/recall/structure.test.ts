import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupScores, groupsFound, withNeighbours } from './structure.ts'
import type { Unit } from './structure.ts'

const unit = (key: string, tfs: number[], group: string | null = 's'): Unit => ({
  key,
  tfs,
  length: 10,
  group,
})
const context = { weights: [1, 1], terms: 2, items: 500, averageLength: 10 }
const byKey = (units: Unit[]) => new Map(units.map((u) => [u.key, u]))

describe('withNeighbours', () => {
  it('gives an answer the words of the question before it, and less the other way', () => {
    const units = byKey([unit('question', [1, 1]), unit('answer', [0, 0])])
    const link = { from: 'question', to: 'answer', offset: 1 }
    const widened = withNeighbours(units, [link, link])
    assert.deepEqual(widened.get('answer')?.tfs, [0.45, 0.45])
    assert.equal(widened.get('answer')?.length, 14.5)
    assert.deepEqual(widened.get('question')?.tfs, [1, 1])
    assert.equal(widened.get('question')?.length, 12.5)
    assert.deepEqual(units.get('answer')?.tfs, [0, 0])
  })
})

describe('groupScores', () => {
  it('puts the session that holds more of the query above the others', () => {
    const units = [
      unit('1', [1, 0], 'a'),
      unit('2', [0, 1], 'a'),
      unit('3', [1, 0], 'b'),
      unit('4', [0, 0], 'b'),
    ]
    const scores = groupScores(groupsFound(units, context), context.weights)
    assert.ok((scores.get('a') ?? 0) > (scores.get('b') ?? 0))
    assert.ok((scores.get('b') ?? 0) > 0)
  })

  it('has nothing to say about items without a session or alone in theirs', () => {
    assert.equal(
      groupScores(
        groupsFound([unit('1', [1, 0], null), unit('2', [1, 0], 'a')], context),
        context.weights,
      ).size,
      0,
    )
  })
})
