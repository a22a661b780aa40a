import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainInstant, toUtcMicros, toUtcSeconds } from './instant.ts'

describe('toUtcMicros', () => {
  for (const [given, expected] of [
    ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000000Z'],
    ['2026-01-15T10:00:00.1234567+03:00', '2026-01-15T07:00:00.123456Z'],
    ['2026-01-15T10:00:00', '2026-01-15T10:00:00.000000Z'],
    ['2026-01-15 10:00', '2026-01-15T10:00:00.000000Z'],
    ['2026-01-15', '2026-01-15T00:00:00.000000Z'],
    ['2024-02-29T23:30:00-0130', '2024-03-01T01:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ] as const) {
    it(`reads ${given}`, () => assert.equal(toUtcMicros(given), expected))
  }

  for (const text of [
    '',
    'yesterday',
    '2026-02-30',
    '2025-02-29T00:00:00Z',
    '2026-13-01',
    '2026-01-15T24:00:00Z',
    '2026-01-15T10:60:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-00:01',
    '2026-01-15T10:00:00+24:00',
    '+012026-01-15T10:00:00Z',
    '2026-01-15T10:00:00Z\n',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(toUtcMicros(text), undefined))
  }

  it('sorts as text like it sorts in time', () => {
    const moments = ['2026-01-15T10:00:00.5Z', '2026-01-15T10:00:00Z', '2026-01-15T12:00:00+03:00']
    const sorted = moments.map((text) => toUtcMicros(text) ?? '').toSorted()
    assert.deepEqual(sorted, [
      '2026-01-15T09:00:00.000000Z',
      '2026-01-15T10:00:00.000000Z',
      '2026-01-15T10:00:00.500000Z',
    ])
  })

  it('is written without an empty fraction', () => {
    assert.equal(plainInstant('2026-01-15T10:00:00.000000Z'), '2026-01-15T10:00:00Z')
    assert.equal(plainInstant('2026-01-15T10:00:00.120000Z'), '2026-01-15T10:00:00.120000Z')
    assert.equal(toUtcSeconds('2026-01-15T10:00:00.9Z'), '2026-01-15T10:00:00Z')
  })
})
