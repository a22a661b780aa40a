import type { Author } from './ctx.ts'
import { newId } from './id.ts'

/** The system as the author of what it writes in a tenant's journal. */
export function systemAuthor(tenantId: string, wake: Author['wake']): Author {
  const untraced = { requestId: null, correlationId: newId(), traceRunId: null }
  return { tenantId, actorId: null, ...untraced, wake }
}
