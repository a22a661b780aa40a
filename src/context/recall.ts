import { askMemory, describeAnswer } from '#client/memory.ts'
import type { MemoryAnswer, MemoryOptions } from '#client/memory.ts'
import type { MemoryStatus } from '#contract/context.ts'
import { buildContext } from '#contract/memory-context.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Budget, MemoryRequest } from './memory-request.ts'

/** The memory service as this process uses it; null where none is configured. */
export interface MemoryProvider extends MemoryOptions {
  namespacePrefix: string
  timeoutSeconds: number
  reconcileTimeoutSeconds: number
  budget: Budget
}

export interface Recalled {
  memory: Record<string, unknown> | null
  memoryStatus: MemoryStatus
  memoryTraceId: string | null
  warnings: string[]
}

/** What the whole of one recall may take beyond the limit of a single call. */
const GRACE_SECONDS = 1

const NARROWED = 'context provider rejected the multi-namespace read; tenant namespace only'

/**
 * Asks memory, and never fails because memory does: whatever happens is a status and a warning. All
 * calls of one recall share one deadline. When memory refuses to read several namespaces at once, the
 * same question, with the same narrowing, goes to the tenant's own alone.
 */
export async function recall(
  provider: MemoryProvider,
  ctx: Ctx,
  question: { namespaces: readonly string[]; request: MemoryRequest; onFailure: () => void },
): Promise<Recalled> {
  const { namespaces, request, onFailure } = question
  const whole = AbortSignal.timeout((provider.timeoutSeconds + GRACE_SECONDS) * 1000)
  const ask = async (names: readonly string[]) => {
    const body = {
      ...request,
      scope: { namespaces: [...names] },
      allowed_namespaces: [...namespaces],
    }
    const { traceRunId, traceparent } = ctx
    const asking = { signal: limited(provider, ctx, whole), traceRunId, traceparent }
    const answer = await askMemory(provider, buildContext, { body }, asking)
    if (answer.kind !== 'ok') onFailure()
    return answer
  }
  const answer = await ask(namespaces)
  if (namespaces.length === 1 || !isRejection(answer)) return recalled(answer, [])
  return recalled(await ask(namespaces.slice(0, 1)), [NARROWED])
}

function limited({ timeoutSeconds }: MemoryProvider, ctx: Ctx, whole: AbortSignal): AbortSignal {
  return AbortSignal.any([ctx.signal, whole, AbortSignal.timeout(timeoutSeconds * 1000)])
}

function isRejection(answer: MemoryAnswer): boolean {
  return answer.kind === 'refused' && [400, 403, 422].includes(answer.status)
}

function recalled(answer: MemoryAnswer, warnings: readonly string[]): Recalled {
  if (answer.kind === 'ok') {
    const traceId = answer.body['trace_id']
    return {
      memory: answer.body,
      memoryStatus: 'ok',
      memoryTraceId: typeof traceId === 'string' ? traceId : null,
      warnings: [...warnings],
    }
  }
  const memoryStatus = answer.kind === 'timeout' ? 'timeout' : 'unavailable'
  const warning = `context provider failed: ${describeAnswer(answer)}`
  return without(memoryStatus, [...warnings, warning])
}

/** An answer without memory, and why. */
export function without(memoryStatus: MemoryStatus, warnings: string[]): Recalled {
  return { memory: null, memoryStatus, memoryTraceId: null, warnings }
}
