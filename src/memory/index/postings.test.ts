import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createPostings, frequenciesIn } from './postings.ts'
import type { Postings } from './postings.ts'
import { createTermTable } from './term-table.ts'

const listOf = (postings: Postings, term: number) =>
  postings
    .segments(term)
    .flatMap(({ slots, tfs, from, to }) =>
      Array.from(slots.subarray(from, to), (slot, i) => [slot, tfs[from + i]]),
    )

describe('postings', () => {
  it('give back what was appended, merged at any moment or not', () => {
    const step = fc.record({
      terms: fc.uniqueArray(fc.nat(20)),
      tf: fc.integer({ min: 1, max: 65_535 }),
      merge: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const postings = createPostings()
        const naive = new Map<number, [number, number][]>()
        for (const [slot, { terms, tf, merge }] of steps.entries()) {
          for (const term of terms) {
            postings.append(term, slot, tf)
            naive.set(term, [...(naive.get(term) ?? []), [slot, tf]])
          }
          if (merge) for (const _ of postings.compact());
        }
        for (let term = 0; term <= 20; term++) {
          const expected = naive.get(term) ?? []
          assert.deepEqual(listOf(postings, term), expected)
          const segments = postings.segments(term)
          const slots = Array.from(steps.keys())
          const tfs = slots.map((slot) => expected.find(([at]) => at === slot)?.[1] ?? 0)
          assert.deepEqual([...frequenciesIn(segments, slots)], tfs)
          const odd = slots.filter((slot) => slot % 2 === 1)
          assert.deepEqual(
            [...frequenciesIn(segments, odd)],
            odd.map((slot) => tfs[slot]),
          )
        }
      }),
    )
  })

  it('serve readers the old lists while a merge is under way', () => {
    const postings = createPostings()
    for (let slot = 0; slot < 10; slot++) postings.append(slot % 3, slot, 1)
    const before = [0, 1, 2].map((term) => listOf(postings, term))

    for (const _ of postings.compact())
      assert.deepEqual(
        [0, 1, 2].map((term) => listOf(postings, term)),
        before,
      )

    assert.deepEqual(
      [0, 1, 2].map((term) => listOf(postings, term)),
      before,
    )
  })
})

describe('a table of terms', () => {
  it('numbers each hash once, however many there are', () => {
    const lane = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
    fc.assert(
      fc.property(fc.array(fc.tuple(lane, lane), { maxLength: 2_000 }), (hashes) => {
        const table = createTermTable()
        const naive = new Map<string, number>()
        for (const [high, low] of hashes) {
          const name = `${high} ${low}`
          const expected = naive.get(name) ?? naive.size
          naive.set(name, expected)
          assert.equal(table.add(high, low), expected)
        }
        for (const [high, low] of hashes)
          assert.equal(table.find(high, low), naive.get(`${high} ${low}`))
        assert.equal(table.size, naive.size)
        if (!naive.has('1 2')) assert.equal(table.find(1, 2), -1)
      }),
      { numRuns: 30 },
    )
  })
})
