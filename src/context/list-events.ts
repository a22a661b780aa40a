import type { JournalEvent } from '#contract/events.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Sql } from '#db/sql.ts'
import { decodeCursor, encodeCursor, ORIGIN } from '#events/cursor.ts'
import { readEvents, readTail } from '#events/read.ts'
import type { EventFilter } from '#events/read.ts'
import { selectContents } from './observation.sql.ts'

interface EventQuery extends EventFilter {
  cursor?: string | undefined
  after?: string | undefined
  tail?: number | undefined
  limit: number
}

/**
 * One page of the tenant's journal. An observation's event carries its text for those who may read it;
 * what is private to somebody else shows only that something was recorded.
 */
export async function listEvents(sql: Sql, ctx: Ctx, query: EventQuery) {
  const { cursor, after = cursor, tail, limit, types, entityType, entityId } = query
  const filter = { types, entityType, entityId }
  const loc = cursor === undefined ? 'query.after' : 'query.cursor'
  const from = after === undefined ? ORIGIN : decodeCursor(after, loc)
  const page =
    tail === undefined
      ? await readEvents(sql, ctx, { after: from, limit, filter })
      : await readTail(sql, ctx, { limit: tail, filter })
  return {
    items: await withContents(sql, ctx, page.events),
    nextCursor: encodeCursor(page.next),
    hasMore: page.hasMore,
  }
}

async function withContents(sql: Sql, ctx: Ctx, events: JournalEvent[]): Promise<JournalEvent[]> {
  const recorded = events.filter((event) => event.type === 'observation.recorded')
  const contents = await selectContents(
    sql,
    ctx,
    recorded.map((event) => event.id),
  )
  return events.map((event) => {
    if (isHidden(event, ctx)) return { ...event, payload: { ...event.payload, ...WITHHELD } }
    const text = contents.get(event.id)
    return text ? { ...event, payload: { ...event.payload, ...text } } : event
  })
}

/** What tells something about a private text besides the text itself. */
const WITHHELD = { source: null, dedupKey: null, externalRef: null }

function isHidden({ actorId, payload }: JournalEvent, reader: Ctx): boolean {
  return payload['visibility'] === 'private' && actorId !== reader.actorId
}
