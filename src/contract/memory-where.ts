import { z } from 'zod'
import { label } from './memory-common.ts'

/** A condition on one attribute; which values an operator takes is told by its refusal. */
const Condition = z.strictObject({
  field: label(200),
  op: z.enum(['eq', 'in', 'prefix', 'lte', 'gte', 'exists']),
  value: z.unknown(),
})
export type Condition = z.output<typeof Condition>

/** Conditions that all have to hold. */
export const Where = z.array(Condition).max(20)
