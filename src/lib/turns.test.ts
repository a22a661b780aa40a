import assert from 'node:assert/strict'
import { setImmediate as tick } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { createTurns } from './turns.ts'
import type { TurnLimits } from './turns.ts'

/** Work that goes on until it is told to end, in the order it began. */
function hall(limits: TurnLimits) {
  const turns = createTurns(limits)
  const begun: string[] = []
  const held: Disposable[] = []
  return {
    begun,
    ask: async (name: string, signal?: AbortSignal) => {
      const turn = await turns.enter(name, signal)
      begun.push(name)
      held.push(turn)
    },
    end: async () => {
      held.shift()?.[Symbol.dispose]()
      await tick()
    },
  }
}

describe('createTurns', () => {
  it('keeps who asks for much waiting and lets others by', async () => {
    const { begun, ask, end } = hall({ each: 2 })
    const all = ['much', 'much', 'much', 'much', 'little'].map((name) => ask(name))
    await tick()
    assert.deepEqual(begun, ['much', 'much', 'little'])
    await end()
    assert.deepEqual(begun, ['much', 'much', 'little', 'much'])
    await end()
    await Promise.all(all)
    assert.equal(begun.length, 5)
  })

  it('refuses who has too much waiting, and nobody else', async () => {
    const { begun, ask, end } = hall({ each: 1, waiting: 2 })
    const all = ['much', 'much', 'much', 'little'].map((name) => ask(name))
    await assert.rejects(ask('much'), { code: 'rate_limited', retryAfterSeconds: 1 })
    assert.deepEqual(begun, ['much', 'little'])
    await end()
    const last = ask('much')
    for (const _ of begun) await end()
    for (let left = 3; left > 0; left -= 1) await end()
    await Promise.all([...all, last])
  })

  it('gives turns in the order asked for when all names together have what they may', async () => {
    const { begun, ask, end } = hall({ each: 2, all: 2 })
    const all = ['a', 'b', 'c', 'd'].map((name) => ask(name))
    await tick()
    assert.deepEqual(begun, ['a', 'b'])
    await end()
    await end()
    await Promise.all(all)
    assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  })

  it('forgets who went away, before or while waiting', async () => {
    const { begun, ask, end } = hall({ each: 1 })
    await ask('a')
    const leaving = new AbortController()
    const gone = assert.rejects(ask('a', leaving.signal), /gone/)
    const next = ask('a')
    leaving.abort(new Error('gone'))
    await gone
    await assert.rejects(ask('b', leaving.signal), /gone/)
    await end()
    await next
    assert.deepEqual(begun, ['a', 'a'])
  })

  it('counts a turn once however often it is ended', async () => {
    const turns = createTurns({ each: 1 })
    const turn = await turns.enter('a')
    turn[Symbol.dispose]()
    turn[Symbol.dispose]()
    const held = await turns.enter('a')
    const waiting = turns.enter('a')
    let isIn = false
    void waiting.then(() => (isIn = true))
    await tick()
    assert.equal(isIn, false)
    held[Symbol.dispose]()
    await waiting
  })
})
