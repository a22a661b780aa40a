import type { Sql } from '#db/sql.ts'
import { found } from '#lib/errors.ts'
import { requireRight, uncovered } from '../access/caller.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { selectNamespaces } from '../recall/lexical.sql.ts'
import { selectTrace } from './trace.sql.ts'

/**
 * How a pack came about. A trace names items of every namespace it read, so it is there only for a
 * caller who may read all of them.
 */
export async function readTrace(
  sql: Sql,
  ctx: MemoryCtx,
  { id, namespace }: { id: string; namespace: string },
): Promise<{ trace_id: string } & Record<string, unknown>> {
  requireRight(ctx, 'read', [namespace])
  const [row] = await selectNamespaces(sql, [namespace])
  const trace = row && (await selectTrace(sql, row.id, id))
  const readable = trace && covers(ctx, trace.namespaces) ? trace : undefined
  return { trace_id: id, ...found(readable, 'trace', id) }
}

function covers({ caller }: MemoryCtx, namespaces: unknown): boolean {
  const names = Array.isArray(namespaces) ? namespaces.map(String) : []
  return uncovered(caller, 'read', names) === undefined
}
