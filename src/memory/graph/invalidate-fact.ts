import type { Database } from '#db/sql.ts'
import { found } from '#lib/errors.ts'
import { plainInstant } from '#lib/instant.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { selectFacts, updateFacts } from '../store/edge.sql.ts'
import { selectNamespaceId } from '../store/namespace.sql.ts'
import { writeNamespace } from '../store/write.ts'
import { isVisible } from '../visibility.ts'
import { startOf } from './assert-fact.ts'

export interface Invalidation {
  namespace: string
  writer: Writer
  factId: string
  /** Six digits of a second; now when absent. */
  at: string | undefined
  reason: string | undefined
}

/**
 * Ends a fact without another in its place. One that has ended stays as it ended. Throws `not_found` for a
 * fact that is not there or that the writer may not see.
 */
export async function invalidateFact(
  db: Database,
  ctx: MemoryCtx,
  { namespace, writer, factId, at, reason }: Invalidation,
): Promise<{ validTo: string; invalidated: boolean }> {
  if ((await selectNamespaceId(db, namespace)) === undefined) found(undefined, 'fact', factId)
  return await writeNamespace(db, namespace, async (sql, ns) => {
    const [known] = await selectFacts(sql, ns.id, [factId])
    const seen = known && isVisible(known.scopes, writer.audience) ? known : undefined
    const fact = found(seen, 'fact', factId)
    if (fact.validTo !== null) return { validTo: plainInstant(fact.validTo), invalidated: false }
    const asked = at ?? ns.now
    const validTo = asked < startOf(fact) ? startOf(fact) : asked
    await updateFacts(sql, ns, [{ ...fact, validTo }])
    ns.changed('edge', fact.item, -1, -fact.termCount)
    await recordAudit(sql, ctx, {
      namespaceId: ns.id,
      action: 'fact.invalidate',
      target: factId,
      details: { validTo, ...(reason !== undefined && { reason }) },
      scopes: fact.scopes,
    })
    return { validTo: plainInstant(validTo), invalidated: true }
  })
}
