import { createPriceTable } from '#contract/price-tables.ts'
import { reportLateUsage } from '#contract/usage-reports.ts'
import type { Walk } from './walk.ts'

/** Sets prices, and tells late what a run used that has ended. */
export async function walkAccounting({ make, kept }: Walk, runId: string): Promise<void> {
  const price = { input: '2.50', output: '10' }
  await make(createPriceTable, {
    body: {
      currency: 'EUR',
      entries: [{ model: kept('model of a price'), ...price }],
      comment: kept('comment of a price table'),
    },
  })
  await make(reportLateUsage, {
    params: { id: runId },
    body: {
      sequence: 1,
      mode: 'cumulative',
      cliSessionId: kept('session of a program'),
      lines: [{ model: kept('model that was used'), provider: kept('provider of a model') }],
    },
  })
}
