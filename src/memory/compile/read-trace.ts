import type { Sql } from '#db/sql.ts'
import { AppError, found } from '#lib/errors.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { audienceIn } from '../access/sight.ts'
import { selectNamespaces } from '../recall/lexical.sql.ts'
import { audienceFor, seesAllOf } from '../visibility.ts'
import { selectTrace } from './trace.sql.ts'

type Trace = Record<string, unknown>

/**
 * How a pack came about. A trace names what its reader saw in every namespace of the pack, so it is there
 * only for a caller who may read all of them and sees no less.
 */
export async function readTrace(
  sql: Sql,
  ctx: MemoryCtx,
  { id, namespace }: { id: string; namespace: string },
): Promise<{ trace_id: string } & Trace> {
  await audienceIn(ctx, 'read', [namespace], {})
  const [row] = await selectNamespaces(sql, [namespace])
  const trace = row && (await selectTrace(sql, row.id, id))
  const readable = trace && (await isOpen(ctx, trace)) ? trace : undefined
  return { trace_id: id, ...found(readable, 'trace', id) }
}

async function isOpen(ctx: MemoryCtx, { namespaces, seen_by: seenBy }: Trace): Promise<boolean> {
  try {
    const audience = await audienceIn(ctx, 'read', texts(namespaces), {})
    return seesAllOf(audience, audienceFor(Array.isArray(seenBy) ? texts(seenBy) : null))
  } catch (error) {
    if (error instanceof AppError && error.code === 'permission_denied') return false
    throw error
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
