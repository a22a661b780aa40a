import type { Condition } from '#contract/memory-where.ts'
import { AppError } from '#lib/errors.ts'
import { toUtcMicros } from '#lib/instant.ts'

type Scalar = string | number | boolean

/** A condition on an attribute, checked and ready to be compared. */
export type Test = { field: string } & (
  | { op: 'in'; values: Scalar[] }
  | { op: 'prefix'; value: string }
  /** `value` of a `moment` is UTC with six digits of a second. */
  | { op: 'lte' | 'gte'; of: 'number'; value: number }
  | { op: 'lte' | 'gte'; of: 'moment'; value: string }
  | { op: 'exists'; wanted: boolean }
)

const MAX_VALUES = 100

/**
 * Reads the conditions of a query, which stand at `loc` in its body. Throws `invalid_request` for a value
 * that its operator cannot take.
 */
export function testsOf(where: readonly Condition[], loc = 'where'): Test[] {
  return where.map((condition, index) => {
    const test = testOf(condition)
    if (typeof test === 'object') return test
    throw new AppError('invalid_request', `Cannot query: a condition ${test}`, {
      details: { errors: [{ loc: `body.${loc}.${index}.value`, message: test }] },
    })
  })
}

/** The test, or what is wrong with the value. */
function testOf({ field, op, value }: Condition): Test | string {
  if (op === 'exists') {
    return typeof value === 'boolean' ? { field, op, wanted: value } : 'must be true or false'
  }
  if (op === 'prefix') {
    const isText = typeof value === 'string' && value !== ''
    return isText ? { field, op, value } : 'must be a text that is not empty'
  }
  return op === 'lte' || op === 'gte' ? boundOf(field, op, value) : equalOf(field, op, value)
}

function equalOf(field: string, op: 'eq' | 'in', value: unknown): Test | string {
  if (op === 'in') {
    return isListOfScalars(value)
      ? { field, op, values: value }
      : `must be a list of 1 to ${MAX_VALUES} texts, numbers or booleans`
  }
  return isScalar(value)
    ? { field, op: 'in', values: [value] }
    : 'must be a text, number or boolean'
}

function boundOf(field: string, op: 'lte' | 'gte', value: unknown): Test | string {
  if (typeof value === 'number' && Number.isFinite(value)) return { field, op, of: 'number', value }
  const moment = momentOf(value)
  return moment === undefined
    ? 'must be a number or a moment in ISO 8601'
    : { field, op, of: 'moment', value: moment }
}

/**
 * Whether attributes satisfy every test. A list satisfies one when an element does; what is missing, null
 * or an empty list only satisfies `exists: false`; numbers, texts, booleans and moments are never equal
 * to one another. The SQL form is `satisfying`.
 */
export function satisfies(
  attributes: Readonly<Record<string, unknown>>,
  tests: readonly Test[],
): boolean {
  return tests.every((test) => {
    const value = Object.hasOwn(attributes, test.field) ? attributes[test.field] : undefined
    const elements: unknown[] = Array.isArray(value) ? value : [value ?? []].flat()
    if (test.op === 'exists') return elements.length > 0 === test.wanted
    return elements.some((element) => passes(element, test))
  })
}

function passes(element: unknown, test: Exclude<Test, { op: 'exists' }>): boolean {
  if (test.op === 'in') return test.values.some((value) => value === element)
  if (test.op === 'prefix')
    return typeof element === 'string' && startsSegments(element, test.value)
  const given = test.of === 'number' ? element : momentOf(element)
  if (typeof given !== typeof test.value) return false
  const ordered = given as string | number
  return test.op === 'lte' ? ordered <= test.value : ordered >= test.value
}

/** `62.01` begins `62.01.11` and not `62.011`. */
function startsSegments(text: string, start: string): boolean {
  return text === start || text.startsWith(`${start}.`)
}

function momentOf(value: unknown): string | undefined {
  return typeof value === 'string' ? toUtcMicros(value) : undefined
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
}

function isListOfScalars(value: unknown): value is Scalar[] {
  return (
    Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES && value.every(isScalar)
  )
}
