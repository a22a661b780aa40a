import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { collectAppended } from '#lib/appended.ts'
import type { Notify } from '#lib/appended.ts'
import type { Author } from '#lib/ctx.ts'
import { systemAuthor } from '#lib/system-author.ts'

/** How many ends were recorded, and what kept others from being. */
export interface Reaping {
  reaped: number
  errors: unknown[]
}

/**
 * Lets `reap` record the end of each thing in a transaction of its own, in the name of the system; a failure
 * stops none of the others. `notify` is told the tenants whose journals grew, after the commit.
 */
export async function reapEach<Item extends { tenantId: string }>(
  db: Database,
  notify: Notify,
  items: readonly Item[],
  reap: (sql: Sql, author: Author, item: Item) => Promise<void>,
): Promise<Reaping> {
  const reaping: Reaping = { reaped: 0, errors: [] }
  for (const item of items) {
    const appended = collectAppended()
    const author = systemAuthor(item.tenantId, appended.wake)
    try {
      await transaction(db, 'read write', (sql) => reap(sql, author, item))
      if (appended.isEmpty()) continue
      reaping.reaped += 1
      appended.announce(notify, item.tenantId)
    } catch (error) {
      reaping.errors.push(error)
    }
  }
  return reaping
}

/** Throws what went wrong in any of the rounds, as one error. */
export function requireReaped(rounds: readonly Reaping[]): void {
  const errors = rounds.flatMap((round) => round.errors)
  if (errors.length > 0) throw new AggregateError(errors, 'Cannot reap every lease that is over')
}
