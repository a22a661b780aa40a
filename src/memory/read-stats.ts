import type { z } from 'zod'
import type { getStats } from '#contract/memory-stats.ts'
import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { isUnrestricted } from './access/caller.ts'
import type { MemoryCtx } from './access/caller.ts'
import type { Indexes } from './index/indexes.ts'
import { selectLargest, selectSizes } from './store/namespace.sql.ts'

const MAX_LARGEST = 50

/** How much there is over all namespaces. Throws `permission_denied` to whom one of them is closed. */
export async function readStats(
  sql: Sql,
  { caller }: MemoryCtx,
  { indexes, budgetBytes }: { indexes: Indexes; budgetBytes: number },
): Promise<z.output<(typeof getStats)['reply']>> {
  if (!isUnrestricted(caller)) {
    throw new AppError(
      'permission_denied',
      'Cannot read statistics: they are about every namespace, and not all are open to the caller',
    )
  }
  const { namespaces, ...items } = await selectSizes(sql)
  const largest = await selectLargest(sql, MAX_LARGEST)
  return {
    namespaces,
    items,
    largest: largest.map(({ namespace, ...sizes }) => ({ namespace, items: sizes })),
    index: { bytes: Math.round(indexes.bytes), budget_bytes: budgetBytes },
  }
}
