import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Condition } from '#contract/memory-where.ts'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { satisfying } from './where.sql.ts'
import { satisfies, testsOf } from './where.ts'

const db = await sharedMemoryDb()

const attributes = {
  lang: 'ts',
  size: 10,
  ok: true,
  tags: ['x', '62.01.11'],
  code: '62.011',
  day: '2026-01-15',
  moments: ['2026-02-01T00:00:00+03:00', 'soon'],
  gone: null,
  none: [],
  deep: [['x']],
  part: { lang: 'ts' },
}

type Row = [field: string, op: Condition['op'], value: unknown]

const HOLD: Row[] = [
  ['lang', 'eq', 'ts'],
  ['size', 'eq', 10],
  ['ok', 'eq', true],
  ['tags', 'eq', 'x'],
  ['lang', 'in', ['py', 'ts']],
  ['tags', 'prefix', '62.01'],
  ['tags', 'prefix', '62.01.11'],
  ['size', 'lte', 10],
  ['size', 'gte', -3.5],
  ['day', 'lte', '2026-01-15T00:00:00Z'],
  ['day', 'gte', '2026-01-14T23:00:00-01:00'],
  ['moments', 'lte', '2026-01-31T21:00:00Z'],
  ['day', 'exists', true],
  ['part', 'exists', true],
  ['gone', 'exists', false],
  ['none', 'exists', false],
  ['absent', 'exists', false],
]

const FAIL: Row[] = [
  ['lang', 'eq', 'TS'],
  ['size', 'eq', '10'],
  ['ok', 'eq', 'true'],
  ['deep', 'eq', 'x'],
  ['part', 'eq', 'ts'],
  ['tags', 'prefix', '62.0'],
  ['code', 'prefix', '62.01'],
  ['size', 'prefix', '1'],
  ['size', 'gte', '2020-01-01'],
  ['day', 'gte', 0],
  ['lang', 'lte', '2026-01-01'],
  ['absent', 'eq', 'x'],
  ['gone', 'lte', 1],
  ['toString', 'exists', true],
]

const where = ([field, op, value]: Row): Condition => ({ field, op, value })

/** Which of the attributes satisfy the tests, by the database. */
async function bySql(all: readonly object[], conditions: readonly Condition[]): Promise<boolean[]> {
  const rows = await db<{ held: boolean }[]>`
    select ${satisfying(db, testsOf(conditions))} as held
    from jsonb_array_elements(${JSON.stringify(all)}::text::jsonb) with ordinality as t (properties, n)
    order by n`
  return rows.map(({ held }) => held)
}

function isTaken(one: Condition): boolean {
  try {
    return testsOf([one]).length > 0
  } catch {
    return false
  }
}

describe('a condition on attributes', () => {
  for (const [rows, held] of [
    [HOLD, true],
    [FAIL, false],
  ] as const) {
    for (const row of rows) {
      it(`${held ? 'holds' : 'does not hold'}: ${JSON.stringify(row)}`, async () => {
        assert.equal(satisfies(attributes, testsOf([where(row)])), held)
        assert.deepEqual(await bySql([attributes], [where(row)]), [held])
      })
    }
  }

  it('is refused with its place when its operator cannot take the value', () => {
    const refused: Row[] = [
      ['a', 'eq', {}],
      ['a', 'eq', null],
      ['a', 'eq', Infinity],
      ['a', 'in', []],
      ['a', 'in', 'x'],
      ['a', 'in', Array.from({ length: 101 }, () => 1)],
      ['a', 'prefix', ''],
      ['a', 'prefix', 1],
      ['a', 'lte', 'soon'],
      ['a', 'gte', true],
      ['a', 'gte', '2026-02-30'],
      ['a', 'exists', 'yes'],
    ]
    for (const row of refused) {
      assert.throws(
        () => testsOf([where(['a', 'eq', 1]), where(row)], 'traverse.2.where'),
        (error) => JSON.stringify(error).includes('body.traverse.2.where.1.value'),
        JSON.stringify(row),
      )
    }
  })

  it('means the same in the database as in the process', async () => {
    const scalar = fc.oneof(
      fc.constantFrom('', 'a', 'a.b', 'a.b.c', 'ab', '10', '%', "it's"),
      fc.constantFrom('2026-01-15', '2026-02-29', '2024-02-29T24:00', '0000-01-01', '0001-01-01'),
      fc.constantFrom(
        '2026-01-15 10:00',
        '2026-01-15T10:00:00,1234567+0300',
        '9999-12-31T23-02:00',
      ),
      fc.constantFrom('2026-01-15T13:00:00.123456+03:00', '2026-13-01', '0001-01-01T00:00+01:00'),
      fc.constantFrom(0, 10, -1, 1e21, 1e-7, 0.1, true, false),
    )
    const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constantFrom(null, {}))
    const field = fc.constantFrom('a', 'b', "it's")
    const said = fc.dictionary(field, value, { maxKeys: 3 })
    const condition = fc.oneof(
      fc.record({ field, op: fc.constant('eq' as const), value: scalar }),
      fc.record({
        field,
        op: fc.constant('in' as const),
        value: fc.array(scalar, { minLength: 1 }),
      }),
      fc.record({ field, op: fc.constantFrom('lte' as const, 'gte' as const), value: scalar }),
      fc.record({ field, op: fc.constant('prefix' as const), value: scalar }),
      fc.record({ field, op: fc.constant('exists' as const), value: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 30, maxLength: 60 }),
        fc.array(condition.filter(isTaken), { minLength: 1, maxLength: 2 }),
        async (all, conditions) => {
          const tests = testsOf(conditions)
          assert.deepEqual(
            await bySql(all, conditions),
            all.map((one) => satisfies(one, tests)),
          )
        },
      ),
      { numRuns: 150 },
    )
  })
})
