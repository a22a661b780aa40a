import { askMemory, describeAnswer } from '#client/memory.ts'
import type { MemoryOptions } from '#client/memory.ts'
import { ErasureReceipt, eraseObservation } from '#contract/memory-deletion.ts'
import { journalObservationId } from '#contract/observation-id.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { ErasureRow, Receipt } from './erasure.sql.ts'

export interface ErasingMemory extends MemoryOptions {
  namespacePrefix: string
  timeoutSeconds: number
}

export type Told = { receipt: Receipt; failure: '' } | { receipt: null; failure: string }

/**
 * Tells memory to erase what the journal told it, also what it has not been told yet: a delivery may be on
 * its way. Safe to repeat. Never throws.
 */
export async function askToErase(
  memory: ErasingMemory,
  { tenantId, eventId, mode }: Pick<ErasureRow, 'tenantId' | 'eventId' | 'mode'>,
  { signal, traceRunId }: Pick<Ctx, 'signal'> & { traceRunId?: string },
): Promise<Told> {
  const namespace = `${memory.namespacePrefix}${tenantId}`
  const answer = await askMemory(
    memory,
    eraseObservation,
    {
      params: { id: journalObservationId(namespace, eventId) },
      query: { namespace, mode, ahead: 'true' },
    },
    {
      signal: AbortSignal.any([signal, AbortSignal.timeout(memory.timeoutSeconds * 1000)]),
      ...(traceRunId !== undefined && { traceRunId }),
    },
  )
  const said = answer.kind === 'ok' ? ErasureReceipt.safeParse(answer.body) : undefined
  if (!said?.success) return { receipt: null, failure: describeAnswer(answer) }
  const { erased_at: erasedAt, removed } = said.data
  return { receipt: { erasedAt, removed }, failure: '' }
}
