import type { z } from 'zod'
import type { recordAudit as contract } from '#contract/memory-brain.ts'
import type { Database } from '#db/sql.ts'
import { foreign } from '../access/caller.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import { traceOf } from '../documents/keep-note.ts'
import { mayWrite } from '../prepare-observation.ts'
import { namespaceId } from '../store/write.ts'
import { recordAudit } from './record-audit.ts'

/**
 * Adds an event of the caller's own to the trail. Throws `permission_denied` for scopes beyond the writer's.
 */
export async function writeAudit(
  db: Database,
  ctx: MemoryCtx,
  {
    namespace,
    writer,
    body,
  }: { namespace: string; writer: Writer; body: z.output<(typeof contract)['body']> },
): Promise<{ auditId: string; trace: string }> {
  const { action, target = null, content, details, scopes } = body
  if (!mayWrite(writer, scopes)) throw foreign()
  const trace = body.trace_id ?? traceOf(ctx, body) ?? ctx.runId
  const auditId = await recordAudit(db, ctx, {
    namespaceId: await namespaceId(db, namespace),
    traceId: trace,
    action,
    target,
    details: { ...details, ...(content !== undefined && { content }) },
    scopes,
  })
  return { auditId, trace }
}
