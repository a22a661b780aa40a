import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { issuePhrase } from './issue-phrase.ts'

describe('issuePhrase', () => {
  const cases: readonly [z.ZodType, unknown, string][] = [
    [z.string(), undefined, 'is missing'],
    [z.string(), 5, 'must be a string'],
    [z.number(), 'x', 'must be a number'],
    [z.coerce.number(), 'x', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'x', 'must be true or false'],
    [z.array(z.string()), {}, 'must be a list'],
    [z.object({}), null, 'must be an object'],
    [z.record(z.string(), z.unknown()), [], 'must be an object'],
    [z.string().min(16), 'secret', 'must have at least 16 characters'],
    [z.string().min(1), '', 'must have at least 1 character'],
    [z.string().max(3), 'long', 'must have at most 3 characters'],
    [z.array(z.string()).min(1), [], 'must have at least 1 entry'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.number().positive(), 0, 'must be more than 0'],
    [z.number().max(5), 6, 'must be at most 5'],
    [z.number().multipleOf(2), 3, 'must be a multiple of 2'],
    [z.uuid(), 'secret', 'must be a UUID'],
    [z.iso.datetime({ offset: true }), 'secret', 'must be a moment such as 2026-12-31T00:00:00Z'],
    [z.iso.date(), 'secret', 'must be a day such as 2026-12-31'],
    [z.string().regex(/^a+$/), 'secret', 'must be like /^a+$/'],
    [z.enum(['a', 'b']), 'secret', 'must be one of a, b'],
    [z.literal('a'), 'secret', 'must be a'],
    [z.union([z.string(), z.number()]), true, 'has none of the forms it may have'],
    [z.strictObject({}), { more: 1 }, 'has what is not known: more'],
    [z.string().refine(() => false, 'must rhyme'), 'x', 'must rhyme'],
  ]
  for (const [schema, value, expected] of cases) {
    it(`says "${expected}" of ${JSON.stringify(value)}`, () => {
      const result = schema.safeParse(value, { error: issuePhrase })
      assert.equal(result.error?.issues[0]?.message, expected)
    })
  }
})
