import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tableLines } from './table.ts'

describe('tableLines', () => {
  it('aligns columns by what a terminal shows, not by how many units a text has', () => {
    assert.deepEqual(
      tableLines(
        ['TASK', 'TITLE', 'WHO'],
        [
          ['1', '日本語', 'a'],
          ['12', 'Ёлка', 'b'],
          ['123', 'e\u0301te', 'c'],
        ],
      ),
      ['TASK  TITLE   WHO', '1     日本語  a', '12    Ёлка    b', '123   e\u0301te     c'],
    )
  })

  it('makes each cell one line without escapes', () => {
    assert.deepEqual(tableLines(['A', 'B'], [['x\u001b[31m\ny', 'z']])[1], 'x y  z')
  })

  it('cuts a line at the edge of the terminal, never through a letter', () => {
    const [, line] = tableLines(['A', 'B'], [['1', '日本語日本語']], 10)
    assert.equal(line, '1  日本語…')
  })
})
