import type { z } from 'zod'
import type { queryEntities } from '#contract/memory-reconcile.ts'
import { AppError } from '#lib/errors.ts'

export type Condition = z.output<(typeof queryEntities)['body']>['where'][number]

/** A condition on attributes, checked and ready to be compared as JSON. */
export interface Test {
  field: string
  op: Condition['op']
  /** Of `eq` and `in`: JSON texts, one of which an attribute has to equal or to hold. */
  values: string[]
  /** Of `exists`. */
  wanted: boolean
}

const MAX_VALUES = 100

/** Reads the conditions of a query. Throws `invalid_request` for a value that its operator cannot take. */
export function testsOf(where: readonly Condition[]): Test[] {
  return where.map(({ field, op, value }, index) => {
    if (op === 'exists') {
      if (typeof value !== 'boolean') throw invalid(index, 'must be true or false')
      return { field, op, values: [], wanted: value }
    }
    const values: unknown[] = op === 'in' && Array.isArray(value) ? value : [value]
    const isList = op === 'eq' || Array.isArray(value)
    if (!isList || values.length === 0 || values.length > MAX_VALUES || !values.every(isScalar)) {
      const wanted =
        op === 'eq' ? 'a text, number or boolean' : `a list of 1 to ${MAX_VALUES} of them`
      throw invalid(index, `must be ${wanted}`)
    }
    return { field, op, values: values.map((one) => JSON.stringify(one)), wanted: true }
  })
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function invalid(index: number, message: string): AppError {
  return new AppError('invalid_request', `Cannot query: a condition ${message}`, {
    details: { errors: [{ loc: `body.where.${index}.value`, message }] },
  })
}
