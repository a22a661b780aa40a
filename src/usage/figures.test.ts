import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { countTotal } from './figures.ts'
import type { Figures } from './figures.ts'

const total = fc.record({ input: fc.bigInt(0n, 9n), output: fc.bigInt(0n, 9n) })

/** What a program used by its totals in their order, written down again from what they mean. */
function usedInOrder(totals: readonly { input: bigint; output: bigint }[]) {
  const used = { input: 0n, output: 0n }
  let last = { input: 0n, output: 0n }
  for (const now of totals) {
    const isAnew = now.input < last.input || now.output < last.output
    used.input += isAnew ? now.input : now.input - last.input
    used.output += isAnew ? now.output : now.output - last.output
    last = now
  }
  return used
}

const at = (input: bigint): Figures => ({ input })

describe('totals of a program', () => {
  it('add up to the same in whatever order they arrive, and nothing ever counts below zero', () => {
    const arriving = fc
      .array(total, { maxLength: 12 })
      .chain((totals) =>
        fc.tuple(
          fc.constant(totals),
          fc.shuffledSubarray([...totals.keys()], { minLength: totals.length }),
        ),
      )
    fc.assert(
      fc.property(arriving, ([totals, order]) => {
        const known = new Map<number, Figures>()
        const sum = { input: 0n, output: 0n }
        for (const place of order) {
          const now = totals[place] ?? {}
          const before = [...known.keys()].filter((other) => other < place)
          const after = [...known.keys()].filter((other) => other > place)
          const { used } = countTotal(
            now,
            known.get(Math.max(...before)) ?? null,
            known.get(Math.min(...after)) ?? null,
          )
          known.set(place, now)
          for (const kind of ['input', 'output'] as const) {
            assert.ok((used[kind] ?? 0n) >= 0n)
            sum[kind] += used[kind] ?? 0n
          }
        }
        assert.deepEqual(sum, usedInOrder(totals))
      }),
    )
  })

  it('say when the program began to count anew', () => {
    assert.equal(countTotal(at(5n), null, null).isNewSession, false)
    assert.equal(countTotal(at(5n), at(5n), null).isNewSession, false)
    assert.equal(countTotal(at(4n), at(5n), null).isNewSession, true)
    // 7 arrives between 5 and 6: that 6 was a new beginning is found out only now.
    const late = countTotal(at(7n), at(5n), at(6n))
    assert.deepEqual(late, { used: { input: 7n }, isNewSession: true })
  })
})
