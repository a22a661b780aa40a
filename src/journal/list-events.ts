import { selectContents } from '#context/observation.sql.ts'
import type * as contract from '#contract/events-api.ts'
import type { JournalEvent } from '#contract/events.ts'
import type { RouteInput } from '#contract/route.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import type { Sql } from '#db/sql.ts'
import { decodeCursor, encodeCursor } from '#events/cursor.ts'
import { checkPlace } from '#events/place.ts'
import { readEvents, readTail } from '#events/read.ts'
import type { EventFilter } from '#events/read.ts'
import { selectSubtree } from '#org/workspace.sql.ts'

type EventQuery = RouteInput<typeof contract.listEvents>['query']

/**
 * One page of the tenant's journal. An observation's event carries its text for those who may read it;
 * what is private to somebody else shows only that something was recorded. Throws `not_found` for a
 * workspace that the tenant does not have, and `cursor_below_journal_floor`.
 */
export async function listEvents(sql: Sql, ctx: Ctx, query: EventQuery) {
  const { types, entityType, entityId, workspaceId, actorId, from, to } = query
  const workspaceIds = workspaceId === undefined ? undefined : await treeOf(sql, ctx, workspaceId)
  const page = await readPage(sql, ctx, {
    ...query,
    filter: { types, entityType, entityId, workspaceIds, actorId, from, to },
  })
  return {
    items: await withContents(sql, ctx, page.events),
    nextCursor: encodeCursor(page.next),
    prevCursor: page.events[0]?.cursor ?? null,
    hasMore: page.hasMore,
  }
}

/**
 * The same for a reader that goes on from a cursor it was given: a place that is no more in the journal is
 * `restore_detected`, not an empty page.
 */
export async function listEventsFrom(sql: Sql, ctx: Ctx, query: EventQuery) {
  for (const name of ['cursor', 'after', 'before'] as const) {
    const place = query[name]
    if (place !== undefined) await checkPlace(sql, ctx, decodeCursor(place, `query.${name}`))
  }
  return await listEvents(sql, ctx, query)
}

async function readPage(sql: Sql, ctx: Ctx, query: EventQuery & { filter: EventFilter }) {
  const { cursor, after = cursor, tail, before, limit, filter } = query
  if (tail !== undefined) return await readTail(sql, ctx, { limit: tail, filter })
  if (before !== undefined) {
    return await readTail(sql, ctx, { limit, before: decodeCursor(before, 'query.before'), filter })
  }
  const loc = cursor === undefined ? 'query.after' : 'query.cursor'
  const from = after === undefined ? undefined : decodeCursor(after, loc)
  return await readEvents(sql, ctx, { after: from, limit, filter })
}

/** The workspace and what is below it now, also when an event was stamped before a move. */
async function treeOf(sql: Sql, ctx: Ctx, workspaceId: string): Promise<string[]> {
  const tree = (await selectSubtree(sql, ctx, workspaceId)).map(({ id }) => id)
  found(tree[0], 'workspace', workspaceId)
  return tree
}

async function withContents(sql: Sql, ctx: Ctx, events: JournalEvent[]): Promise<JournalEvent[]> {
  const recorded = events.filter((event) => event.type === 'observation.recorded')
  const contents = await selectContents(
    sql,
    ctx,
    recorded.map((event) => event.id),
  )
  return events.map((event) => {
    if (isHidden(event, ctx)) return { ...event, payload: withheld(event.payload) }
    const text = contents.get(event.id)
    return text ? { ...event, payload: { ...event.payload, ...text } } : event
  })
}

/** Without what tells something about a private text: a short one can be guessed by its hash. */
function withheld(payload: JournalEvent['payload']): JournalEvent['payload'] {
  const { contentLength: _, contentSha256: __, ...rest } = payload
  return { ...rest, source: null, dedupKey: null, externalRef: null, supersedes: null }
}

function isHidden({ actorId, payload }: JournalEvent, reader: Ctx): boolean {
  return payload['visibility'] === 'private' && actorId !== reader.actorId
}
