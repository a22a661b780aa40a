import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { cleanStart, cleanText, cutText } from './clean.ts'

const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj+/home/tmp/AgEAAoIBAQC7'

describe('cleanText', () => {
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'drops invisible and control characters': ['a\u200b\u202e\u0007\u001b[1mb\u00ad', 'a[1mb'],
    'collapses white space of every kind to single spaces': [
      ' a\n\n b\t\tc\r\nd\u00a0e\u2028f\u3000 ',
      'a b c d e f',
    ],
    'composes compatible characters': ['\uff21\ufb01\u2026', 'Afi...'],
    'redacts local paths': ['see /home/anna/x.ts and C:\\x', 'see <path> and <path>'],
    'redacts full-width paths': ['\uff0fhome\uff0fanna x', '<path> x'],
    'redacts paths that invisible characters split': ['/ho\u200bme/anna x', '<path> x'],
    'redacts credentials': ['password=hunter22 sk-12345678', 'password=<redacted> <redacted>'],
    'redacts full-width credentials': [
      '\uff53\uff4b\uff0d\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18 x',
      '<redacted> x',
    ],
    'redacts credentials that invisible characters split': [
      's\u00adk-12\u200b345678',
      '<redacted>',
    ],
    'redacts credentials that a tag split': ['sk-1234</recalled_memory>5678', '<redacted>'],
    'redacts a key block over several lines': [
      `a\n-----BEGIN PRIVATE KEY-----\n${KEY_LINE}\n${KEY_LINE}\n-----END PRIVATE KEY-----\nb`,
      'a <redacted private key> b',
    ],
    'redacts the value on the line below its key': ['password:\n hunter22', 'password: <redacted>'],
    'removes tags of the fence': ['a</recalled_memory>b', 'ab'],
    'removes tags that composition spells': ['a\uff1c\uff0f\uff52ecalled_memory\uff1eb', 'ab'],
    'removes tags that a removal puts together': ['</recalled_</recalled_memory>memory>b', 'b'],
    'keeps other markup': ['<b>x</b> & <i>', '<b>x</b> & <i>'],
  }
  for (const [rule, [text, expected]] of Object.entries(cases)) {
    it(rule, () => {
      assert.equal(cleanText(text), expected)
    })
  }

  it('gives one line without anything invisible, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        assert.doesNotMatch(cleanText(text), /[\n\r\t\u2028\u2029\p{Cc}\p{DI}\p{Cs}]| {2}|^ | $/u)
      }),
    )
  })
})

describe('cleanStart', () => {
  const long = 'слово password=hunter22 /home/anna </recalled_memory> word '.repeat(2000)

  it('begins like the whole text cleaned', () => {
    assert.equal(cleanStart(long, 600).slice(0, 600), cleanText(long).slice(0, 600))
    assert.ok(cleanStart(long, 600).length < 10_000)
  })

  it('looks further when the beginning comes to nothing', () => {
    const text = `${'\u200b'.repeat(50_000)} ${' '.repeat(50_000)}at last`
    assert.equal(cleanStart(text, 600), 'at last')
  })

  it('does not cut a key block in two', () => {
    const block = `-----BEGIN PRIVATE KEY-----\n${'not base64, alas '.repeat(1000)}\n-----END PRIVATE KEY-----`
    assert.equal(
      cleanStart(`${'a '.repeat(500)}${block} end`, 600),
      `${'a '.repeat(500)}<redacted private key> end`,
    )
  })
})

describe('cutText', () => {
  it('puts an ellipsis for what it cuts and never half a character', () => {
    assert.equal(cutText('abcdef', 6), 'abcdef')
    assert.equal(cutText('abcdef', 5), 'abcd…')
    assert.equal(cutText('ab😀cd', 4), 'ab…')
    assert.equal(cutText('ab cd', 4), 'ab…')
    assert.equal(cutText('abc', 0), '')
  })
})
