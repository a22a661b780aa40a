import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findPii, maskPii } from './pii.ts'

const FOUND: readonly [text: string, masked: string][] = [
  ['call +7 (916) 123-45-67 now', 'call [ПДн:phone] now'],
  ['звони 8 916 123 45 67', 'звони [ПДн:phone]'],
  ['tel:+442071838750.', 'tel:[ПДн:phone].'],
  ['write to ivan.petrov+x@mail.example.ru, please', 'write to [ПДн:email], please'],
  ['почта иван@почта.рф', 'почта [ПДн:email]'],
  ['паспорт 4509 123456', 'паспорт [ПДн:passport_rf]'],
  ['паспорт серия 45 09 № 123456 выдан', 'паспорт серия [ПДн:passport_rf] выдан'],
  ['паспорт: 4509123456', 'паспорт: [ПДн:passport_rf]'],
  ['СНИЛС 112-233-445 95', 'СНИЛС [ПДн:snils]'],
  ['карта 4111 1111 1111 1111', 'карта [ПДн:card]'],
  ['card 5500-0000-0000-0004!', 'card [ПДн:card]!'],
  ['ИНН 7707083893', 'ИНН [ПДн:inn]'],
  ['ИНН 500100732259', 'ИНН [ПДн:inn]'],
]

const ORDINARY = [
  'build 7707083894 passed',
  'СНИЛС 112-233-445 96',
  'card 4111 1111 1111 1112',
  '2026-01-15T10:00:00.123456Z',
  'obs-112233445950123456789012',
  'version 1.2.3, port 8080, 100 rps, TASK-000123',
  '00000000000 0000000000 000-000-000 00',
  'a@b and user@localhost',
  '0f8fad5b-d9cb-469f-a165-70867728950e',
]

describe('personal data in a text', () => {
  it('is masked by its category, the rest of the text kept', () => {
    for (const [text, masked] of FOUND) assert.equal(maskPii(text).text, masked)
  })

  it('is not seen in numbers that fail their check digits, in ids and moments', () => {
    for (const text of ORDINARY) assert.deepEqual(findPii(text), [], text)
  })

  it('is found once, and masking again changes nothing', () => {
    const text = FOUND.map(([one]) => one).join('\n')
    const once = maskPii(text)
    assert.deepEqual(once.categories.toSorted(), [
      'card',
      'email',
      'inn',
      'passport_rf',
      'phone',
      'snils',
    ])
    assert.deepEqual(maskPii(once.text), { text: once.text, categories: [] })
  })
})
