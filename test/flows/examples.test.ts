import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { newReader } from '../support/examples.ts'
import { EXECUTED_PAGES } from '../support/executed-pages.ts'

const reader = await newReader()
after(async () => await reader[Symbol.asyncDispose]())

describe('the examples of the pages', () => {
  for (const page of EXECUTED_PAGES) {
    it(`of ${page} do what it says`, async () => {
      const examples = await reader.follow(page)
      assert.ok(examples.length > 0)
      for (const { command, promised, printed } of examples) {
        if (promised === undefined) continue
        assert.deepEqual(
          broken(promised, JSON.parse(printed), 'answer'),
          [],
          `${command}${printed}`,
        )
      }
    })
  }
})

/** What differs from one machine or moment to another, and is only an example in a page. */
const VARIES =
  /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT.*|\d+|(ec1_|st1-|ctx-|obs-|TASK-).*)$/

/**
 * Where an answer is not what the page shows: a missing field, another type, another text. Numbers and
 * what varies are compared by type, and each element shown in a list has to be among those that came.
 */
function broken(promised: unknown, actual: unknown, place: string): string[] {
  if (Array.isArray(promised)) {
    if (!Array.isArray(actual)) return [`${place} is no list`]
    return promised.flatMap((element, index) => {
      const isThere = actual.some((one) => broken(element, one, place).length === 0)
      return isThere ? [] : [`${place}.${index} is missing`]
    })
  }
  if (typeof promised === 'object' && promised !== null) {
    if (typeof actual !== 'object' || actual === null) return [`${place} is no object`]
    const fields = actual as Record<string, unknown>
    return Object.entries(promised).flatMap(([name, value]) => {
      return Object.hasOwn(fields, name)
        ? broken(value, fields[name], `${place}.${name}`)
        : [`${place}.${name} is missing`]
    })
  }
  if (typeof promised !== typeof actual) return [`${place} is ${JSON.stringify(actual)}`]
  const isExample =
    typeof promised === 'number' || (typeof promised === 'string' && VARIES.test(promised))
  return isExample || promised === actual ? [] : [`${place} is ${JSON.stringify(actual)}`]
}
