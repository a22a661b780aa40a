import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { cutToTokens } from './cut.ts'
import { countTokens } from './tokens.ts'

const real = (text: string) => o200k(text, { disallowedSpecial: new Set() })
const pieces = (file: string) =>
  readFileSync(new URL(file, import.meta.url), 'utf8').match(/[^]{1,600}/gu) ?? []
const repeat = (make: (i: number) => string) => Array.from({ length: 40 }, (_, i) => make(i))
/** Deterministic noise: the same digits of a linear congruential generator in every run. */
function noise(seed: number, bytes: number): Buffer {
  let state = seed + 1
  return Buffer.from(
    Array.from({ length: bytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    }),
  )
}

const CALIBRATION: Record<string, string[]> = {
  English: [
    'Migrations are written so that they can be reverted; the pipeline runs the downgrade.',
    'The second run found that the limit is 110 requests per second, not 100 as documented!',
    'Alice met Guillermo Hernandez and Siobhan in Reykjavik, then went hiking. Yeah, awesome.',
    'Chloroplasts are organelles that conduct photosynthesis in plant and algal cells.',
  ],
  Russian: [
    'Миграции пишем только обратимыми; откат проверяется на каждой сборке.',
    'Каролина встретила Джованни в Екатеринбурге, они договорились о встрече 15 октября.',
    'Не удалось подтвердить доставку: служба памяти не ответила вовремя, повторяем.',
    'Учёт наблюдений ведётся по пространству имён, а не по автору записи.',
  ],
  'other scripts': [
    '记忆服务在一个命名空间内存储观察、事实和文档，并根据查询返回最相关的内容。',
    '東京都は日本の首都であり、昨日の会議で決まったことを教えてください。',
    '서울은 대한민국의 수도이자 최대 도시이다.',
    'ذاكرة الخدمة تخزن الملاحظات والحقائق والوثائق',
    'Η υπηρεσία μνήμης αποθηκεύει παρατηρήσεις',
    'Größenordnungsmäßig verändert sich die Straßenbahnhaltestelle',
  ],
  'names and nonsense': [
    'Przybylski Krzyżanowska Szczepański Wojciechowski',
    'xkcd qwerty zxcvbn asdfgh',
    'Щербаковского Преображенская Сыктывкарский',
  ],
  code: [...pieces('tokens.ts'), ...pieces('budget.ts'), ...pieces('../analysis/stop-words.ts')],
  JSON: pieces('../../../package.json'),
  hashes: repeat((i) => noise(i, 200).toString('hex')),
  base64: repeat((i) => noise(i, 300).toString('base64')),
  identifiers: repeat((i) => `${noise(i, 4).toString('hex')}-${noise(i + 90, 2).toString('hex')}`),
  signs: [
    '{"a":[{"b":null},{"c":[1,2,3]}],"d":{"e":"f"}}',
    '!!!???***((()))[[[]]]{{{}}}<<<>>>;;;:::',
    '🎉🔥👩‍👩‍👧‍👦🇷🇺✅❌🚀💡 → ⇒ ≤ ≥ — « » …',
    '1 2 3 4 5 6 7 8 9 10 2024-05-03T10:00:00.123456Z 192.168.1.1 +7 (999) 123-45-67',
  ],
}

describe('countTokens', () => {
  for (const [name, texts] of Object.entries(CALIBRATION)) {
    it(`never counts less than the tokenizer: ${name}`, () => {
      for (const text of texts) assert.ok(countTokens(text) >= real(text), text)
    })
  }

  it('does not waste the budget on prose and code', () => {
    for (const name of ['English', 'Russian', 'code']) {
      const texts = CALIBRATION[name] ?? []
      const sum = (count: (text: string) => number) =>
        texts.reduce((total, text) => total + count(text), 0)
      assert.ok(sum(countTokens) <= 1.6 * sum(real), name)
    }
  })

  it('is linear in the text', () => {
    const started = performance.now()
    countTokens('a-1 Ж~'.repeat(50_000))
    countTokens('~'.repeat(300_000))
    countTokens('z'.repeat(300_000))
    assert.ok(performance.now() - started < 3_000)
  })
})

describe('cutToTokens', () => {
  it('cuts after a sentence', () => {
    const text = 'First sentence here. Second sentence here! A third one that is long.'
    assert.equal(cutToTokens(text, 12), 'First sentence here. Second sentence here!')
  })

  it('cuts after a word when the first sentence is too long, and keeps what fits', () => {
    const cut = cutToTokens('one long sentence without any end in sight at all', 6)
    assert.match(cut, /^one long sentence.* …$/)
    assert.equal(cutToTokens('short', 5), 'short')
    assert.equal(cutToTokens('short', 0), '')
  })

  it('never costs more than asked', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.integer({ min: 0, max: 60 }), (text, max) => {
        const cut = cutToTokens(text, max)
        assert.ok(cut === '' || countTokens(cut) <= max)
      }),
      { examples: [['!A 0', 4]], numRuns: 2000 },
    )
  })
})
