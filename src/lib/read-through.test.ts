import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readThrough } from './read-through.ts'

/** A source that counts how often it is read, and can fail. */
function source() {
  let nowMs = 0
  const state = { value: 'a' as string | undefined, fails: false, reads: 0 }
  const cached = readThrough<string>({ freshSeconds: 30, staleSeconds: 120 }, () => nowMs)
  const read = () => {
    state.reads += 1
    return state.fails ? Promise.reject(new Error('down')) : Promise.resolve(state.value)
  }
  const get = (key = 'k') => cached(key, read)
  const after = (seconds: number) => (nowMs += seconds * 1000)
  return { state, get, after }
}

describe('readThrough', () => {
  it('reads once while what was read is fresh, and again afterwards', async () => {
    const { state, get, after } = source()
    await get()
    after(29)
    state.value = 'b'
    assert.deepEqual([await get(), state.reads], ['a', 1])
    after(2)
    assert.deepEqual([await get(), state.reads], ['b', 2])
  })

  it('goes on with what it has while it cannot read, but not for ever', async () => {
    const { state, get, after } = source()
    await get()
    state.fails = true
    after(119)
    assert.equal(await get(), 'a')
    after(2)
    await assert.rejects(() => get(), /down/)
  })

  it('does not remember that something is not there', async () => {
    const { state, get } = source()
    state.value = undefined
    assert.equal(await get(), undefined)
    state.value = 'new'
    assert.equal(await get(), 'new')
  })

  it('forgets at once what is not there any more', async () => {
    const { state, get, after } = source()
    await get()
    after(31)
    state.value = undefined
    assert.equal(await get(), undefined)
    state.fails = true
    await assert.rejects(() => get(), /down/)
  })

  it('keeps a bounded number, the newest', async () => {
    const { state, get } = source()
    for (let key = 0; key <= 10_000; key += 1) await get(String(key))
    const { reads } = state
    await get('10000')
    assert.equal(state.reads, reads)
    await get('0')
    assert.equal(state.reads, reads + 1)
  })
})
