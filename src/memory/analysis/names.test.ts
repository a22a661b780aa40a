import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sameName } from './names.ts'

describe('sameName', () => {
  for (const [a, b] of [
    ['Caroline', 'Каролина'],
    ['Каролиной', 'Caroline'],
    ['Melanie', 'Мелани'],
    ['Gina', 'Джина'],
    ['Philip', 'Филипу'],
  ] as const) {
    it(`takes ${a} and ${b} for one name`, () => assert.equal(sameName(a, b), true))
  }
  for (const [a, b] of [
    ['Caroline', 'Мелани'],
    ['Jon', 'Дарья'],
    ['Anna', 'Ivan'],
    ['Dave', 'Davis'],
  ] as const) {
    it(`tells ${a} from ${b}`, () => assert.equal(sameName(a, b), false))
  }
})
