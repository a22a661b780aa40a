import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { safeBlock, safeJson, safeLine } from './safe-text.ts'

const HOSTILE = [
  ['a colour', 'a\u001b[31mb', 'ab'],
  ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
  ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link', 'a\u001b]8;;http://evil.example\u001b\\b', 'ab'],
  ['a device command', 'a\u001bP1;2|payload\u001b\\b', 'ab'],
  ['eight-bit control sequences', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
  ['a lone escape', 'a\u001bb', 'ab'],
  ['backspaces over what stands there', 'rm -rf\b\b\b\b\b\bls', 'rm -rfls'],
  ['reordered letters', 'a\u202ecba\u202cb', 'acbab'],
  ['zero-width letters', 'a\u200bb\ufeffc', 'abc'],
] as const

describe('text of others on a terminal', () => {
  for (const [what, text, expected] of HOSTILE) {
    it(`loses ${what}`, () => {
      assert.equal(safeLine(text), expected)
      assert.equal(safeBlock(text), expected)
    })
  }

  it('keeps words, spaces and, in a block, lines', () => {
    assert.equal(safeLine('Ёлка  и\tкод\r\n2'), 'Ёлка  и код 2')
    assert.equal(safeBlock('a\r\n\tb\n'), 'a\n\tb\n')
  })

  it('takes time in proportion to a hostile text', () => {
    for (const part of ['\u001b[', '\u001b]', '\u001b[;', '\u001bP;']) {
      const text = part.repeat(200_000)
      const start = process.cpuUsage()
      safeBlock(text)
      assert.ok(process.cpuUsage(start).user < 4_000_000, part)
    }
  })
})

describe('JSON on a terminal', () => {
  it('says exactly what the value says, in characters that do nothing', () => {
    const value = { text: HOSTILE.map(([, text]) => text).join('|'), tag: '\u{e0041}\u2028' }
    const json = safeJson(value, 2)
    assert.deepEqual(JSON.parse(json), value)
    assert.doesNotMatch(json, /[^\P{Cc}\n]|\p{Bidi_C}|\p{DI}|\u2028/u)
  })
})
