import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asksWhen, closeness, datesIn, mentionsTime } from './dates.ts'

describe('datesIn', () => {
  for (const [text, expected] of [
    ['on 2024-05-03', [{ year: 2024, month: 5, day: 3 }]],
    ['on the 3rd of May, 2024', [{ year: 2024, month: 5, day: 3 }]],
    ['May 3, 2024', [{ year: 2024, month: 5, day: 3 }]],
    ['3 мая 2024', [{ year: 2024, month: 5, day: 3 }]],
    ['в октябре 2023', [{ year: 2023, month: 10 }]],
    ['in June', [{ month: 6 }]],
    ['back in 2019', [{ year: 2019 }]],
    ['I may go with 3 friends', []],
    ['2024-13-45', [{ year: 2024 }]],
  ] as const) {
    it(`reads "${text}"`, () => assert.deepEqual(datesIn(text), expected))
  }
})

describe('closeness', () => {
  const at = new Date('2024-05-04T09:00:00Z')
  it('falls with distance in days, months and years', () => {
    assert.equal(closeness(at, [{ year: 2024, month: 5, day: 3 }]), 1)
    assert.equal(closeness(at, [{ month: 5, day: 10 }]), 0.6)
    assert.equal(closeness(at, [{ month: 5 }]), 0.7)
    assert.equal(closeness(at, [{ year: 2024, month: 6 }]), 0.3)
    assert.equal(closeness(at, [{ year: 2024 }]), 0.2)
    assert.equal(closeness(at, [{ year: 2020, month: 1 }]), 0)
  })
})

describe('questions about time', () => {
  it('are recognised in both languages, as are answers to them', () => {
    assert.equal(asksWhen('When did we ship?'), true)
    assert.equal(asksWhen('Когда мы выпустили версию?'), true)
    assert.equal(asksWhen('Who ships?'), false)
    assert.equal(mentionsTime('we shipped last Friday'), true)
    assert.equal(mentionsTime('выпустили вчера'), true)
    assert.equal(mentionsTime('we ship often'), false)
  })
})
