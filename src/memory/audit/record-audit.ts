import { randomBytes } from 'node:crypto'
import type { Sql } from '#db/sql.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { redacted } from '../redacted.ts'
import { insertAuditEvents } from './audit.sql.ts'
import type { AuditInsert } from './audit.sql.ts'

export type AuditWrite = Pick<AuditInsert, 'action' | 'target' | 'details' | 'scopes'> & {
  /** What the event belongs to; the request's run when absent. */
  traceId?: string | undefined
}

/** Notes who did what in the trail of a namespace; answers the key of the event. */
export async function recordAudit(
  sql: Sql,
  { caller, runId }: Pick<MemoryCtx, 'caller' | 'runId'>,
  { namespaceId, ...event }: AuditWrite & { namespaceId: string },
): Promise<string> {
  const auditId = `audit:${randomBytes(12).toString('hex')}`
  const { action, target, details, scopes, traceId = runId } = event
  const row = { auditId, traceId, action, actor: caller.label, target, scopes }
  await insertAuditEvents(sql, namespaceId, [{ ...row, details: redacted(details) }])
  return auditId
}
