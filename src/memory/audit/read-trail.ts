import type { z } from 'zod'
import type { readTrail as contract } from '#contract/memory-brain.ts'
import type { Sql } from '#db/sql.ts'
import { found } from '#lib/errors.ts'
import { neutralise } from '#lib/neutralise.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { anchorKey } from '../graph/trail.ts'
import { readScopeOf } from '../recall/read-scope.ts'
import { redacted } from '../redacted.ts'
import { shown } from '../shown.ts'
import { selectAuditEvents, selectTraced } from './audit.sql.ts'
import type { AuditRow } from './audit.sql.ts'

type Trail = z.output<(typeof contract)['reply']>

const LIMIT = 500

/**
 * What belongs to a trace: nodes that were kept under it and what was done, newest first, as the caller may
 * see them. Throws `not_found` where there is nothing of either.
 */
export async function readTrail(
  sql: Sql,
  ctx: MemoryCtx,
  { id, namespace }: { id: string; namespace: string },
): Promise<Trail> {
  const request = { scope: { namespace }, scopes: [] }
  const { namespaces, reader } = await readScopeOf(sql, ctx, request, namespace)
  const namespaceId = found(namespaces[0], 'trace', id).id
  const { audience } = reader
  const anchor = anchorKey(id)
  const query = { audience, limit: LIMIT + 1 }
  const nodes = await selectTraced(sql, namespaceId, { ...query, anchor })
  const events = await selectAuditEvents(sql, namespaceId, { ...query, traceId: id })
  found(nodes[0] ?? events[0], 'trace', id)
  return {
    trace_id: id,
    namespace,
    anchor,
    nodes: nodes.slice(0, LIMIT).map(({ key, kind, title, sourcePath, validFrom }) => ({
      natural_key: shown(key),
      type: shown(kind),
      title: neutralise(title).text,
      source_path: shown(sourcePath),
      valid_from: validFrom.toISOString(),
    })),
    events: events.slice(0, LIMIT).map(eventOf),
    truncated: nodes.length > LIMIT || events.length > LIMIT,
  }
}

function eventOf({ auditId, details, ...row }: AuditRow): Trail['events'][number] {
  const { content, ...rest } = redacted(shown(details))
  return {
    natural_key: auditId,
    action: shown(row.action),
    actor: row.actor,
    target: shown(row.target),
    content: typeof content === 'string' ? neutralise(content).text : null,
    details: rest,
    recorded_at: row.recordedAt.toISOString(),
  }
}
