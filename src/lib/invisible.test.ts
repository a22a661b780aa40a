import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { composeCompatible, dropInvisible } from './invisible.ts'

describe('dropInvisible', () => {
  const dropped = {
    'zero-width characters': 'a\u200b\u200c\u200d\u2060\ufeffb',
    'bidirectional controls': 'a\u202a\u202e\u2066\u2069\u061c\u200fb',
    'soft hyphens and fillers': 'a\u00ad\u3164\u115f\uffa0b',
    'tags and variation selectors': 'a\u{e0041}\ufe0f\u{e0100}b',
    'control characters': 'a\0\u0007\u001b\u007f\u009bb',
    'annotation marks': 'a\ufff9\ufffbb',
  }
  for (const [what, text] of Object.entries(dropped)) {
    it(`drops ${what}`, () => {
      assert.equal(dropInvisible(text), 'ab')
    })
  }

  it('keeps tabs and makes every kind of line break a newline', () => {
    assert.equal(dropInvisible('a\tb\r\nc\rd\u0085e\u2028f\u2029g'), 'a\tb\nc\nd\ne\nf\ng')
  })

  it('puts a space for what separates words and is no line break', () => {
    assert.equal(dropInvisible('a\vb\fc'), 'a b c')
  })

  it('replaces half characters', () => {
    assert.equal(dropInvisible('a\ud800b'), 'a\ufffdb')
  })

  it('keeps letters, marks and signs of every script', () => {
    for (const text of ['Ёлка — «да»', 'é ñ ü', 'नमस्ते', '日本語', '한국어', 'שלום', '😀 №1…']) {
      assert.equal(dropInvisible(text), text)
    }
  })

  it('leaves nothing invisible of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(dropInvisible(text), /[\p{DI}\p{Bidi_C}\p{Cs}]|[^\P{Cc}\t\n]/u)
      }),
    )
  })
})

describe('composeCompatible', () => {
  it('folds full-width and mathematical letters', () => {
    assert.equal(composeCompatible('\uff53\uff4b\uff0d \u{1d42b}'), 'sk- r')
  })

  it('is NFKC wherever no letter carries more than 30 marks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 25 }), (text) => {
        assert.equal(composeCompatible(text), text.normalize('NFKC'))
      }),
    )
  })

  it('cuts a longer pile of marks to 30 and keeps what follows', () => {
    const pile = `a${'\u0301\u0323'.repeat(5000)}b${'\u0301'.repeat(40)}`
    const expected = `a${'\u0301\u0323'.repeat(15)}b${'\u0301'.repeat(30)}`
    assert.equal(composeCompatible(pile), expected.normalize('NFKC'))
  })

  it('cuts piles of half-width voiced marks, which become marks', () => {
    const pile = 'a\u0301\uff9e'.concat('\u0301\uff9e'.repeat(100))
    assert.ok(composeCompatible(pile).length <= 31)
  })
})
