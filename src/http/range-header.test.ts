import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRange } from './range-header.ts'

describe('readRange', () => {
  const whole: readonly (string | undefined)[] = [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=3-2',
    'bytes=0-1,4-5',
    'bytes=-1,-2',
    'pages=1-2',
    'bytes=1-2\0',
    'bytes=+1-2',
  ]
  for (const header of whole) {
    it(`sends everything for ${JSON.stringify(header)}`, () => {
      assert.equal(readRange(header, 10), undefined)
    })
  }

  const parts: Readonly<Record<string, [number, number]>> = {
    'bytes=0-0': [0, 1],
    'bytes=2-5': [2, 6],
    'bytes=7-': [7, 10],
    'bytes=9-99999999999999999999': [9, 10],
    'bytes=-3': [7, 10],
    'bytes=-99999999999999999999': [0, 10],
    'Bytes= 2-5 ': [2, 6],
  }
  for (const [header, [start, end]] of Object.entries(parts)) {
    it(`reads ${header} of ten bytes`, () => {
      assert.deepEqual(readRange(header, 10), { start, end })
    })
  }

  for (const [header, sizeBytes] of [
    ['bytes=10-', 10],
    ['bytes=99999999999999999999-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-5', 0],
  ] as const) {
    it(`finds nothing at ${header} of ${sizeBytes} bytes`, () => {
      assert.equal(readRange(header, sizeBytes), null)
    })
  }
})
