import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { identifiersIn } from './identifiers.ts'

describe('identifiersIn', () => {
  for (const [text, expected] of [
    ['see 8c7bd9a0-11aa-4e21-9d77-0123456789ab', ['8c7bd9a0-11aa-4e21-9d77-0123456789ab']],
    ['commit 3e3e811f broke it', ['3e3e811f']],
    ['in src/memory/search.ts, line 12', ['src/memory/search.ts']],
    ['upgrade to v1.12.3 now', ['v1.12.3']],
    ['TASK-000123 and ERR_TIMEOUT', ['TASK-000123', 'ERR_TIMEOUT']],
    ['call getUserName of HTTPServer', ['getUserName', 'HTTPServer']],
    ['com.acme.billing is down', ['com.acme.billing']],
    ['в 2024 году 15 раз', []],
    ['plain words, nothing else', []],
  ] as const) {
    it(`finds ${expected.join(', ') || 'nothing'} in "${text}"`, () => {
      assert.deepEqual(identifiersIn(text), expected)
    })
  }

  it('gives at most eight', () => {
    assert.equal(identifiersIn('a1 b2 '.repeat(10) + 'abc1 '.repeat(3)).length, 1)
    const many = Array.from({ length: 20 }, (_, i) => `name_${i}`).join(' ')
    assert.equal(identifiersIn(many).length, 8)
  })

  it('finds a name of Latin letters also inside a text without spaces', () => {
    assert.deepEqual(identifiersIn('请使用getUserName获取'), ['getUserName'])
  })

  const LONG = 20_000
  for (const unit of [
    'a',
    'Aa',
    'а\u0430a',
    '1',
    'a-',
    'a:1-',
    'a.',
    '_',
    'a_',
    '/',
    'a/',
    '漢字',
    'ᄀ',
    '1a.',
  ]) {
    it(`reads ${LONG} characters of "${unit}" without going over them again and again`, () => {
      const text = unit.repeat(LONG / unit.length)
      const started = performance.now()
      identifiersIn(text)
      identifiersIn(`${text}!`)
      assert.ok(performance.now() - started < 1000)
    })
  }
})
