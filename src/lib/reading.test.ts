import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReading } from './reading.ts'

/** Something to read that is answered by hand. */
function source() {
  const asked: ((value: number | Error) => void)[] = []
  const read = () =>
    new Promise<number>((resolve, reject) => {
      asked.push((value) => (value instanceof Error ? reject(value) : resolve(value)))
    })
  return { asked, read }
}

describe('a reading', () => {
  it('is taken once for all who ask at the same time, and kept while it is fresh', async () => {
    const { asked, read } = source()
    const ask = createReading(read, { freshSeconds: 60, patienceSeconds: 60 })
    const both = [ask(), ask()]
    asked[0]?.(1)
    assert.deepEqual(await Promise.all(both), [
      { kind: 'read', value: 1 },
      { kind: 'read', value: 1 },
    ])
    assert.deepEqual(await ask(), { kind: 'read', value: 1 })
    assert.equal(asked.length, 1)
  })

  it('is taken anew when it is not fresh, and a failure is told', async () => {
    const { asked, read } = source()
    const ask = createReading(read, { freshSeconds: 0, patienceSeconds: 60 })
    const first = ask()
    asked[0]?.(new Error('gone'))
    const reading = await first
    assert.equal(reading.kind, 'failed')
    const second = ask()
    asked[1]?.(2)
    assert.deepEqual(await second, { kind: 'read', value: 2 })
  })

  it('keeps nobody waiting for long, and starts no second one meanwhile', async () => {
    const { asked, read } = source()
    const ask = createReading(read, { freshSeconds: 60, patienceSeconds: 0 })
    for (const reading of await Promise.all([ask(), ask(), ask()])) {
      assert.equal(reading.kind, 'failed')
    }
    assert.equal(asked.length, 1)
    asked[0]?.(3)
    assert.deepEqual(await ask(), { kind: 'read', value: 3 })
  })
})
