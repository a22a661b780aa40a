import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bounded } from './bounded.ts'

function forever(): void {
  for (;;);
}

function backtracks(): boolean {
  return /^(a+)+$/.test(`${'a'.repeat(50)}!`)
}

function fails(): never {
  throw new TypeError('a fault')
}

describe('bounded work', () => {
  it('is stopped when it has used its time', () => {
    assert.deepEqual(bounded(forever, 50), { ok: false, why: 'slow' })
    assert.deepEqual(bounded(backtracks, 50), { ok: false, why: 'slow' })
  })

  it('is given the time that others took the machine for', () => {
    const shared = new Int32Array(new SharedArrayBuffer(4))
    let begun = 0
    const waiting = () => {
      begun += 1
      Atomics.wait(shared, 0, 0, 250)
      return 'done'
    }
    assert.deepEqual(bounded(waiting, 100), { ok: true, value: 'done' })
    assert.ok(begun > 1)
  })

  it('that calls itself without end is told apart, and what it throws is thrown', () => {
    const deeper = (): number => 1 + deeper()
    assert.deepEqual(bounded(deeper, 1000), { ok: false, why: 'endless' })
    assert.throws(() => bounded(fails, 1000), { name: 'TypeError', message: 'a fault' })
  })
})
