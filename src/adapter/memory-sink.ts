import type { MemoryAnswer, MemoryOptions } from '#client/memory.ts'
import { askMemory, describeAnswer } from '#client/memory.ts'
import { recordObservations } from '#contract/memory.ts'
import type { Batch, Sink, SinkResult } from './sink.ts'

export interface MemorySinkOptions {
  memory: MemoryOptions
  /** Namespace of a tenant is this followed by its id. */
  namespacePrefix: string
  timeoutSeconds: number
  /** Sent as `X-Run-Id`, so that both logs can be read together. */
  traceRunId: string
}

/** Delivers to the memory service over its public API. */
export function createMemorySink(options: MemorySinkOptions): Sink {
  const { memory, namespacePrefix, timeoutSeconds, traceRunId } = options
  return async (batch, signal) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)])
    const body = bodyOf(batch, namespacePrefix)
    const answer = await askMemory(
      memory,
      recordObservations,
      { body },
      { signal: deadline, traceRunId },
    )
    return resultOf(answer, batch)
  }
}

function bodyOf({ tenantId, observations, position }: Batch, namespacePrefix: string) {
  return {
    scope: { namespace: `${namespacePrefix}${tenantId}` },
    observations: observations.map((observation) => ({ ...observation })),
    stream_position: { e: position.journalEpoch, t: position.txId, s: position.sequence },
  }
}

interface ItemResult {
  duplicate?: boolean
  error?: ItemError
}

interface ItemError {
  status?: number
  detail?: string
  code?: string
}

/**
 * Which answer means what for the cursor. An answer that does not account for every item confirms
 * nothing: it is no answer of this service.
 */
function resultOf(answer: MemoryAnswer, { observations }: Batch): SinkResult {
  if (answer.kind === 'refused') return refusal(answer)
  if (answer.kind !== 'ok') return { kind: 'transient', reason: describeAnswer(answer) }
  const results = answer.body['results'] as ItemResult[] | undefined
  if (!Array.isArray(results) || results.length !== observations.length) {
    return { kind: 'transient', reason: 'memory did not account for every observation' }
  }
  const duplicates = results.filter(({ duplicate }) => duplicate === true).length
  const index = results.findIndex(({ error }) => error !== undefined)
  const error = results[index]?.error
  return error ? rejection(error, index, duplicates) : { kind: 'confirmed', duplicates }
}

function rejection(
  { status = 400, code = '', detail = '' }: ItemError,
  index: number,
  duplicates: number,
): SinkResult {
  const reason = `memory rejected the observation: ${code} ${detail}`.trim()
  return status >= 500
    ? { kind: 'transient', reason }
    : { kind: 'rejected', index, reason, duplicates }
}

function refusal(answer: Extract<MemoryAnswer, { kind: 'refused' }>): SinkResult {
  const { status, retryAfterSeconds } = answer
  const reason = describeAnswer(answer)
  if (status === 401) return { kind: 'unauthorised', reason }
  if (status === 403) return { kind: 'forbidden', reason }
  if (status >= 500 || status === 429 || status === 408) {
    return {
      kind: 'transient',
      reason,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }
  }
  return { kind: 'refused', reason }
}
