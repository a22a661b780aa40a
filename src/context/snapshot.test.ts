import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesOf, countersOf } from './snapshot.ts'

describe('what the journal keeps of a snapshot', () => {
  it('keeps whole numbers by dotted name and no text', () => {
    const answer = {
      opened: 2,
      source: 'git',
      duplicate: false,
      ratio: 0.5,
      entities: { opened: 1, deeper: { no: 1 } },
      changes: { opened: [{ kind: 'file', key: 'a' }], limit: 10 },
    }
    assert.deepEqual(countersOf(answer), { opened: 2, 'entities.opened': 1, 'changes.limit': 10 })
  })

  it('keeps at most 32 counters', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, n]))
    assert.equal(Object.keys(countersOf(many)).length, 32)
  })

  it('names at most 200 changes and says when there are more', () => {
    const items = Array.from({ length: 201 }, (_, n) => ({ kind: 'file', key: `f${n}`, text: 'x' }))
    const { changes, truncated } = changesOf({ changes: { opened: items, truncated: false } })
    assert.equal(changes.length, 200)
    assert.equal(truncated, true)
    assert.deepEqual(changes[0], { kind: 'file', key: 'f0', change: 'opened' })
    const few = changesOf({ changes: { closed: items.slice(0, 1), truncated: true } })
    assert.equal(few.truncated, true)
    assert.deepEqual(changesOf({}), { changes: [], truncated: false })
    assert.deepEqual(changesOf({ changes: { opened: [{ kind: 7 }, null] } }).changes, [])
  })
})
