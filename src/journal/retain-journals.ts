import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { tryLockEntity } from '#events/append.ts'
import { collectAppended } from '#lib/appended.ts'
import type { Notify } from '#lib/appended.ts'
import { selectTenants } from '#events/retention.ts'
import type { Move } from '#events/retention.ts'
import type { Author } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { systemAuthor } from '#lib/system-author.ts'
import { moveEvents } from './move-events.ts'
import type { MoveRequest } from './move-events.ts'

export interface RetentionSettings {
  /** Events that are younger stay in the hot journal. */
  minAgeSeconds: number
  /** Archived events of this age are deleted for good; undefined for never. */
  pruneAfterSeconds: number | undefined
  /** Go on for tenants whose journal nothing reads: there is no memory. */
  withoutConsumer: boolean
}

/** Events of one transaction: a long one would hold back every reader on the server. */
const BATCH = 5000

/**
 * Archives, and where it is asked for deletes, what is old enough in every tenant's journal, in short
 * transactions. What a consumer has not read stays, without that being an error. A tenant that another
 * worker is busy with is left to it; a failure stops none of the others and is thrown at the end.
 */
export async function retainJournals(
  db: Database,
  { minAgeSeconds, pruneAfterSeconds, withoutConsumer }: RetentionSettings,
  notify: Notify = () => {},
): Promise<void> {
  const errors: unknown[] = []
  const request = { maxEvents: BATCH, withoutConsumer, reason: 'retention' }
  for (const tenantId of await selectTenants(db)) {
    try {
      const archive = { ...request, minAgeSeconds }
      await moveAll(db, tenantId, { move: 'archive', request: archive }, notify)
      if (pruneAfterSeconds !== undefined) {
        const prune = { ...request, minAgeSeconds: Math.max(minAgeSeconds, pruneAfterSeconds) }
        await moveAll(db, tenantId, { move: 'prune', request: prune }, notify)
      }
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Cannot retain every journal')
}

interface Work {
  move: Move
  request: MoveRequest
}

async function moveAll(db: Database, tenantId: string, work: Work, notify: Notify): Promise<void> {
  for (let hasMore = true; hasMore;) {
    const appended = collectAppended()
    const author = systemAuthor(tenantId, appended.wake)
    hasMore = await transaction(db, 'read write', (sql) => moveOnce(sql, author, work))
    appended.announce(notify, tenantId)
  }
}

/** Answers whether there may be more to move. */
async function moveOnce(sql: Sql, author: Author, { move, request }: Work): Promise<boolean> {
  const mine = { type: 'journal_retention', id: author.tenantId }
  if (!(await tryLockEntity(sql, author, mine))) return false
  try {
    return (await moveEvents(sql, author, move, request)).limitedBy === 'max_events'
  } catch (error) {
    if (error instanceof AppError && error.code === 'retention_blocked_by_consumer') return false
    throw error
  }
}
