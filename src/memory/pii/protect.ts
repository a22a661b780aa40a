import type { Route } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import { findPii } from '#lib/pii.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { selectNamespaceId } from '../store/namespace.sql.ts'
import { maskReply } from './mask-reply.ts'

/**
 * What a caller is told where personal data is protected: masked, with `pii_masked`, unless the credential
 * is cleared for it. Then it is told as it is, and the trail of every namespace that was read says so
 * first: what cannot be noted is not released.
 */
export async function protectReply(
  db: Database,
  ctx: MemoryCtx,
  { route, reply }: { route: Route; reply: unknown },
): Promise<unknown> {
  const { reply: masked, categories } = maskReply(reply)
  if (categories.length === 0) return reply
  if (!ctx.caller.pii) return { ...(masked as object), pii_masked: true }
  for (const namespace of ctx.touched ?? []) {
    const namespaceId = await selectNamespaceId(db, namespace)
    if (namespaceId === undefined) continue
    const details = { categories, method: route.method, route: route.path }
    const event = { action: 'pii_access', target: null, details, scopes: [] }
    await recordAudit(db, ctx, { namespaceId, ...event })
  }
  return reply
}

/** Labels for what is stored: whether it holds personal data, and of which kinds. Empty for none. */
export function piiLabels(...values: unknown[]): { pii?: true; pii_categories?: string[] } {
  const found = values.flatMap((value) => findPii(typeof value === 'string' ? value : text(value)))
  const categories = [...new Set(found.map(({ category }) => category))].toSorted()
  return categories.length === 0 ? {} : { pii: true, pii_categories: categories }
}

function text(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
