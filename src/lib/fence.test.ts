import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fenceFinder } from '../../test/support/fence-check.ts'
import { stripFence } from './fence.ts'

const OPENING = [
  '<',
  '&lt',
  '&lt;',
  '&LT;',
  '&#60',
  '&#60;',
  '&#00060;',
  '&#x3c;',
  '&#X3C',
  '&#x003C;',
].concat(['\u02c2', '\u2039', '\u2329', '\u276c', '\u276e', '\u27e8', '\u29fc', '\u3008', '\uff1c'])
const CLOSING = ['>', '&gt', '&gt;', '&GT;', '&#62', '&#62;', '&#062;', '&#x3e;', '&#X3E'].concat([
  '\u02c3',
  '\u203a',
  '\u232a',
  '\u276d',
  '\u276f',
  '\u27e9',
  '\u29fd',
  '\u3009',
  '\uff1e',
])
const SLASHES = [
  '',
  '/',
  '&sol;',
  '&SOL',
  '&#47;',
  '&#0047',
  '&#x2f;',
  '&#X2F',
  '\u2044',
  '\u2215',
  '\u29f8',
]

describe('stripFence', () => {
  for (const open of OPENING) {
    for (const slash of SLASHES) {
      it(`removes a tag that begins with ${JSON.stringify(open + slash)}`, () => {
        assert.equal(stripFence(`a ${open}${slash}recalled_memory> b`), 'a  b')
        assert.equal(stripFence(`a ${open} ${slash}\n recalled_memory > b`), 'a  b')
      })
    }
  }

  for (const close of CLOSING) {
    it(`removes a tag that ends with ${JSON.stringify(close)}`, () => {
      assert.equal(stripFence(`a </recalled_memory${close} b`), 'a  b')
      assert.equal(stripFence(`a <recalled_memory id="1"${close} b`), 'a  b')
    })
  }

  const names = {
    'capital letters': 'RECALLED_Memory',
    'Cyrillic letters': 'r\u0435c\u0430lled_m\u0435m\u043ery',
    'Greek letters': 'recalled_mem\u03bfry',
    'full-width letters':
      '\uff52\uff45\uff43\uff41\uff4c\uff4c\uff45\uff44\uff3f\uff4d\uff45\uff4d\uff4f\uff52\uff59',
    'mathematical letters':
      '\u{1d42b}\u{1d41e}\u{1d41c}\u{1d41a}\u{1d425}\u{1d425}\u{1d41e}\u{1d41d}_memory',
    'letters in circles': '\u24e1\u24d4\u24d2\u24d0\u24db\u24db\u24d4\u24d3_memory',
    'small capitals':
      '\u0280\u1d07\u1d04\u1d00\u029f\u029f\u1d07\u1d05_\u1d0d\u1d07\u1d0d\u1d0f\u0280\u028f',
    'flag letters': '\u{1f1f7}\u{1f1ea}called_memory',
    'digits for letters': 'reca11ed_mem0ry',
    'bars for letters': 'reca||ed_memory',
    'a double bar for two letters': 'reca\u2016ed_memory',
    'rn for m': 'recalled_rnernory',
    'another underscore': 'recalled\ufe4fmemory',
    'zero-width characters': 'r\u200be\u2060c\ufeffalled_\u00admemory',
    'bidirectional controls': 'recalled\u202e_memory\u2069',
    'tag characters': 'recalled\u{e0041}_memory',
    'variation selectors': 'recalled\ufe0f_memory',
    'control characters': 'recalled\0_mem\u0007ory',
    accents: 're\u0301c\u00e0lled_memory\u0323',
  }
  for (const [spelling, name] of Object.entries(names)) {
    it(`removes a tag spelled with ${spelling}`, () => {
      assert.equal(stripFence(`a </${name}> b`), 'a  b')
    })
  }

  it('takes a bracket with a stroke over it for a bracket', () => {
    assert.equal(stripFence('a \u226erecalled_memory> b'), 'a  b')
    assert.equal(stripFence('a <\u0338recalled_memory> b'), 'a  b')
  })

  it('takes an escaped and a doubled slash for a slash', () => {
    assert.equal(stripFence('<\\/recalled_memory>'), '')
    assert.equal(stripFence('<//recalled_memory>'), '')
  })

  it('removes up to 200 characters of attributes on the same line', () => {
    assert.equal(stripFence(`<recalled_memory${' '.repeat(200)}>x`), 'x')
    assert.equal(stripFence(`<recalled_memory${' '.repeat(201)}>x`), `${' '.repeat(201)}>x`)
    assert.equal(stripFence('<recalled_memory\n>x'), '\n>x')
  })

  it('takes only bracket, slash and name of a tag that is never closed', () => {
    assert.equal(stripFence('before </recalled_memory and after'), 'before  and after')
    assert.equal(stripFence('before </recalled_memory'), 'before ')
    assert.equal(stripFence('<recalled_memory a <b> c'), ' a <b> c')
  })

  const nested = {
    'inside the name': '</recalled_</recalled_memory>memory>',
    'inside the bracket': '&l</recalled_memory>t;/recalled_memory>',
    'inside the slash': '<&so<recalled_memory>l;recalled_memory>',
    'before the name': '<<recalled_memory>recalled_memory>',
    'at the end of the name': '<recalled_memor<recalled_memory>y>',
    'three deep': '</rec</rec</recalled_memory>alled_memory>alled_memory>',
  }
  for (const [place, text] of Object.entries(nested)) {
    it(`leaves no tag that a removal puts together: ${place}`, () => {
      assert.ok(!stripFence(text).replaceAll(' ', '').includes('recalled_memory'), stripFence(text))
    })
  }

  const harmless = [
    'the name recalled_memory without a bracket',
    'a <recalled_memory_2> and <my_recalled_memory> and <recalled_memoryя>',
    'if (a_b < recalled) { memory(c) } // x > y && z',
    '<p class="x_y">Tom &amp; Jerry &lt;b&gt;</p>',
    'generic Map<string, memory_t> and List<recalled_t>',
    'стрелка ‹ и скобка › рядом со snake_case',
    '😀 <b> \ud83d lone_surrogate',
  ]
  for (const text of harmless) {
    it(`leaves ordinary text alone: ${text.slice(0, 40)}`, () => {
      assert.equal(stripFence(text), text)
    })
  }

  const piece = fc.oneof(
    fc.constantFrom(...OPENING, ...CLOSING, ...SLASHES),
    fc.constantFrom(...Object.values(names), '<recalled_memory>', '</recalled_memory>'),
    fc.constantFrom(
      'recalled_',
      'memory',
      'rec',
      'alled_mem',
      'ory',
      ' ',
      '\n',
      'x',
      '&',
      '&#',
      '6',
      '0;',
      'lt;',
    ),
    fc.string({ maxLength: 3 }),
  )
  const hostile = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))

  it('leaves no tag in any mixture of its parts', () => {
    const findFence = fenceFinder()
    fc.assert(
      fc.property(hostile, (text) => {
        assert.equal(findFence(stripFence(text)), undefined)
      }),
      { numRuns: 3000 },
    )
  })

  it('only ever removes, and changes nothing the second time', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const stripped = stripFence(text)
        assert.equal(stripFence(stripped), stripped)
        let at = 0
        for (const char of stripped) {
          at = text.indexOf(char, at) + char.length
          assert.ok(at >= char.length, 'a character that was not there')
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('keeps text in which no tag stands, whatever it is', () => {
    const findFence = fenceFinder()
    fc.assert(
      fc.property(hostile, (text) => {
        if (findFence(text) === undefined && !text.includes('\\'))
          assert.equal(stripFence(text), text)
      }),
      { numRuns: 1000 },
    )
  })
})
