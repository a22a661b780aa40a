import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { translationsOf } from './translations.ts'

const FILE = join(import.meta.dirname, 'ru-en.txt.gz')

describe('the lexicon', () => {
  it('knows common words in both directions', () => {
    assert.deepEqual(translationsOf('собак').slice(0, 1), ['dog'])
    assert.ok(translationsOf('dog').includes('собак'))
    assert.ok(translationsOf('teacher').includes('учител'))
  })

  it('finds each of its own lines, in the order that the search relies on', () => {
    const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n')
    const words = lines.map((line) => line.split(' '))
    assert.deepEqual(
      words.map(([stem]) => stem),
      words.map(([stem = '']) => stem).toSorted(),
    )
    for (const [stem = '', ...translations] of words) {
      assert.deepEqual(translationsOf(stem), translations)
    }
  })

  it('has nothing for what is no stem of either language', () => {
    for (const text of ['', ' ', 'zzzzqqqq', 'ъъъъ', 'a_b', '犬', 'dog\nсобак', 'ru en']) {
      assert.deepEqual(translationsOf(text), [], text)
    }
  })
})
