import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authorsNamed, understand } from './query.ts'

/** A different capitalised word for each number. */
function name(i: number): string {
  return `N${String(i).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`
}

describe('understand', () => {
  const LONG = 20_000

  for (const [what, unit] of [
    ['marks out of order on one letter', '\u0315\u0300'],
    ['letters of two alphabets in one word', 'aа'],
    ['dates', '1 may 2020 '],
    ['operators', `'"&|!():*<>\\%_`],
  ] as const) {
    it(`takes ${LONG} characters of ${what} without going over them again and again`, () => {
      const started = performance.now()
      understand(`a${unit.repeat(LONG / unit.length)}`)
      assert.ok(performance.now() - started < 1000)
    })
  }

  it('compares only the first of very many names with the authors', () => {
    const query = understand(Array.from({ length: 4000 }, (_, i) => name(i)).join(' '))
    assert.equal(query.names.length, 24)
    const authors = Array.from({ length: 2000 }, (_, i) => `Some Body ${name(i)}`)
    const started = performance.now()
    authorsNamed(query, authors)
    assert.ok(performance.now() - started < 2000)
  })
})
