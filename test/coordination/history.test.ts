import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultsOf } from './history.ts'
import type { Call, Entry } from './history.ts'

const claim = (token: number): Entry => ({ kind: 'claim', token })
const write = (token: number): Entry => ({ kind: 'write', token })
const end = (token: number): Entry => ({ kind: 'end', token })

function call(
  kind: Call['kind'],
  token: number | undefined,
  times: [number, number],
  place?: number,
) {
  const [calledAt, answeredAt] = times
  return { kind, token, calledAt, answeredAt, place, taskId: 'task' }
}

describe('the check of a claim history', () => {
  it('accepts holders who follow one another', () => {
    const entries = [claim(1), write(1), end(1), claim(3), write(3)]
    const calls = [
      call('claim', 1, [0, 9], 0),
      call('write', 1, [10, 20], 1),
      call('claim', undefined, [12, 13]),
      call('end', 1, [21, 30], 2),
      call('claim', 3, [25, 40], 3),
    ]
    assert.deepEqual(faultsOf(entries, calls), [])
  })

  const wrong: [string, Entry[], Call[]][] = [
    ['two holders at once', [claim(1), claim(2)], []],
    ['a token that does not grow', [claim(2), end(2), claim(2)], []],
    ['a write under a token that was taken over', [claim(1), end(1), claim(2), write(1)], []],
    ['a write when nobody holds', [claim(1), end(1), write(1)], []],
    [
      'an order that contradicts time',
      [claim(1), write(1)],
      [call('claim', 1, [50, 60], 0), call('write', 1, [0, 10], 1)],
    ],
    [
      'a refusal without a holder',
      [claim(1), end(1)],
      [
        call('claim', 1, [0, 10], 0),
        call('end', 1, [20, 30], 1),
        call('claim', undefined, [40, 50]),
      ],
    ],
  ]
  for (const [what, entries, calls] of wrong) {
    it(`notices ${what}`, () => {
      assert.equal(faultsOf(entries, calls).length, 1)
    })
  }
})
