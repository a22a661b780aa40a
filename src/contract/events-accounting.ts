import { z } from 'zod'

/** Events of prices and of what runs used; see `EVENTS`. Reports under a claim are none, like heartbeats. */
export const ACCOUNTING_EVENTS = {
  'price_table.created': z.strictObject({
    version: z.int(),
    currency: z.string(),
    effectiveFrom: z.string(),
    entries: z.int(),
  }),
  /** How much it was stands with the run. */
  'run.late_usage_recorded': z.strictObject({
    taskId: z.uuid(),
    runId: z.uuid(),
    sequence: z.int(),
  }),
} as const satisfies Record<string, z.ZodType>
