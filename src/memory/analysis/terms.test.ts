import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { analyse } from './terms.ts'
import { TF_UNIT, termHash, termsOf } from './terms-of.ts'

const terms = (text: string) => [...analyse(text).keys()]
const shares = (a: string, b: string) => terms(a).some((term) => analyse(b).has(term))

describe('analyse', () => {
  it('meets the inflections of English and Russian words', () => {
    assert.deepEqual(terms('Migrations migrating'), ['migrat'])
    assert.equal(shares('обратимые миграции', 'про миграцию'), true)
    assert.equal(shares('Учёт задач', 'учета'), true)
  })

  it('drops stop and question words of both languages', () => {
    assert.deepEqual(terms('When did the team decide?'), ['team', 'decid'])
    assert.deepEqual(terms('Когда и где команда решила?'), ['команд', 'реш'])
    assert.deepEqual(terms("It's what they don't"), [])
  })

  it('reads a long pile of marks on one letter without ordering all of it', () => {
    const started = performance.now()
    analyse(`a${'\u0315\u0300'.repeat(100_000)}`)
    assert.ok(performance.now() - started < 2000)
  })

  for (const [text, whole, part] of [
    ['getUserName', 'getusernam', 'user'],
    ['HTTPServer', 'httpserver', 'http'],
    ['snake_case_name', 'snake_case_name', 'case'],
    ['com.acme.Billing', 'com.acme.billing', 'acm'],
    ['src/memory/search.ts', 'src/memory/search.ts', 'memori'],
    ['src/memory/search.ts', 'search.ts', 'search'],
    ['v1.2.3', 'v1.2.3', '2'],
    ['ERR-4042', 'err-4042', '4042'],
    ['8c7bd9a0-11aa-4e21-9d77-0123456789ab', '8c7bd9a0-11aa-4e21-9d77-0123456789ab', '11aa'],
    ['100%_off', '100', '_off'],
  ] as const) {
    it(`keeps ${text} whole and by part`, () => {
      assert.equal(analyse(text).has(whole), true, terms(text).join(' '))
      assert.equal(analyse(text).has(part), true, terms(text).join(' '))
    })
  }

  it('does not treat a hyphenated word as an identifier', () => {
    assert.deepEqual(terms('well-known'), ['well', 'know'])
  })

  it('brings irregular forms of both languages together', () => {
    assert.equal(shares('she went', 'to go there'), true)
    assert.equal(shares('two children', 'child number 2'), true)
    assert.equal(shares('люди пришли', 'человек'), true)
    assert.equal(shares('он пришёл', 'прийти'), true)
  })

  it('finds a lower-case spelling of a camel-case name and a name without its accents', () => {
    assert.equal(shares('PostgreSQL', 'postgresql'), true)
    assert.equal(shares('Beyoncé', 'beyonce'), true)
    assert.equal(shares('за́мок', 'замок'), true)
  })

  it('splits CJK text into pairs', () => {
    assert.deepEqual(terms('東京都'), ['東京', '京都'])
    assert.equal(shares('メモリAPI', 'api'), true)
  })

  it('accepts any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const [term, tf] of analyse(text)) assert.ok(term.length > 0 && tf > 0)
      }),
    )
  })
})

describe('termsOf', () => {
  it('weights fields and counts length in words, identifiers once by their parts', () => {
    const item = termsOf(7, [{ text: 'readFile', weight: 3 }, { text: 'reads the whole file' }])
    const tf = (term: string) => item.tfs[item.hashes.indexOf(termHash(7, term))]
    assert.equal(tf('file'), 4 * TF_UNIT)
    assert.equal(tf('readfil'), 3 * TF_UNIT)
    assert.equal(tf('whole'), TF_UNIT)
    assert.equal(item.length, 9)
  })

  it('gives the same word different hashes in different namespaces, all within 64 bits', () => {
    assert.notEqual(termHash(1, 'word'), termHash(2, 'word'))
    assert.equal(termHash('1', 'word'), termHash(1n, 'word'))
    for (let i = 0; i < 1000; i++) {
      const hash = termHash(i, `w${i}`)
      assert.equal(BigInt.asIntN(64, hash), hash)
    }
  })

  it('does not confuse 100,000 words', () => {
    const seen = new Set<bigint>()
    for (let i = 0; i < 100_000; i++) seen.add(termHash(3, `word${i}`))
    assert.equal(seen.size, 100_000)
  })
})
