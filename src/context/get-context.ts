import type { ContextReply, ContextRequest } from '#contract/context.ts'
import { permits } from '#contract/permissions.ts'
import type { Transact } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Focused } from './focus.ts'
import { memoryRequest, namespacesOf } from './memory-request.ts'
import { readFocus } from './read-focus.ts'
import { recall, without } from './recall.ts'
import type { MemoryProvider, Recalled } from './recall.ts'

/** What an operator counts about `POST /context`. */
export interface ContextMetrics {
  answered: (seconds: number) => void
  /** Memory was wanted and allowed, and failed. */
  degraded: (status: 'timeout' | 'unavailable') => void
  /** One call to memory failed. */
  failed: () => void
}

export interface ContextDeps {
  transact: Transact
  provider: MemoryProvider | null
  metrics: ContextMetrics
}

/**
 * The working context: what is true now, read in one consistent view of the database, and what memory
 * recalls about it. The transaction is over before memory is asked, so slow memory holds no connection;
 * a failure of memory is a status, never an error.
 *
 * Throws only what concerns the request itself: `permission_denied`, `not_found`.
 */
export async function getContext(
  deps: ContextDeps,
  ctx: Ctx,
  request: ContextRequest,
): Promise<ContextReply> {
  const started = performance.now()
  const { focused, freshness } = await deps.transact('snapshot', (sql) =>
    readFocus(sql, ctx, request),
  )
  const { warnings, ...recalled } = await recallFor(deps, ctx, { request, focused })
  const { memoryStatus } = recalled
  if (memoryStatus === 'timeout' || memoryStatus === 'unavailable') {
    deps.metrics.degraded(memoryStatus)
  }
  deps.metrics.answered((performance.now() - started) / 1000)
  const { harness, focus, project } = focused
  return { operational: { ...harness, focus, project }, ...recalled, freshness, warnings }
}

async function recallFor(
  { provider, metrics }: ContextDeps,
  ctx: Ctx,
  { request, focused }: { request: ContextRequest; focused: Focused },
): Promise<Recalled> {
  if (!request.includeMemory) return without('disabled', [])
  if (!provider) return without('disabled', ['context provider is not configured'])
  if (!permits(ctx.permissions, 'events.read')) {
    return without('forbidden', ['memory is derived from the journal: events.read is required'])
  }
  try {
    return await recall(provider, ctx, {
      namespaces: namespacesOf(provider.namespacePrefix, focused),
      request: memoryRequest(request, focused, provider.budget),
      onFailure: metrics.failed,
    })
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error
    return without('unavailable', [`context provider failed: ${name}`])
  }
}
