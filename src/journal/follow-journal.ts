import { isDeepStrictEqual } from 'node:util'
import type * as contract from '#contract/event-stream.ts'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { JournalEvent } from '#contract/events.ts'
import type { RouteInput } from '#contract/route.ts'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { decodeCursor, encodeCursor } from '#events/cursor.ts'
import type { Heads } from '#events/heads.ts'
import { currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { listEvents, listEventsFrom } from './list-events.ts'

type StreamQuery = RouteInput<typeof contract.streamEvents>['query']

export interface Following {
  db: Database
  heads: Heads
  /** Longest silence: then the stream says where it is. */
  beatSeconds: number
  /** Aborts when the program stops. */
  stopping: AbortSignal
}

export interface Reader {
  /** The caller as it was let in. */
  ctx: Ctx
  /** The caller as it stands now. Throws when it may not read any more. */
  ask: () => Promise<Ctx>
  /** Waits for a turn at the database. */
  enter: (ctx: Ctx) => Promise<Disposable>
  /** Aborts when the reader is gone. */
  gone: AbortSignal
}

/** A batch ends with the event that makes it longer than this; what is held for a reader is one batch. */
const MAX_BATCH_CHARS = 256 * 1024
const FIRST_LIMIT = 50
const MAX_LIMIT = 200

/**
 * Says every event after a place, then waits for more, until the reader is gone, the program stops or the
 * time is over. The caller is let in anew, and its reach found anew, for every page and every beat. No
 * transaction is open while it waits, neither for events nor for its reader.
 *
 * Throws what reading a page throws, `restore_detected`, and what letting the caller in throws.
 */
export async function* followJournal(
  following: Following,
  reader: Reader,
  query: StreamQuery,
): AsyncGenerator<readonly StreamMessage[]> {
  const { stopping, heads, beatSeconds } = following
  const signal = AbortSignal.any([stopping, reader.gone])
  const ends = performance.now() + (query.closeAfterSeconds ?? Infinity) * 1000
  using watch = heads.watch(reader.ctx.tenantId)
  let page = await firstPage(following, reader, query)
  yield said(page)
  let beatAt = performance.now() + beatSeconds * 1000
  while (!signal.aborted && performance.now() < ends) {
    const ms = Math.max(0, Math.min(beatAt, ends) - performance.now())
    const isDue = page.hasMore || (await watch.beyond(decodeCursor(page.cursor), { ms, signal }))
    if (signal.aborted) break
    const ctx = await reader.ask()
    if (!isDeepStrictEqual(ctx.reach, reader.ctx.reach)) {
      yield [{ type: 'end', reason: 'rights_changed', cursor: page.cursor }]
      return
    }
    const same = { ...page, messages: [] }
    page = isDue ? await nextPage(following, { ...reader, ctx }, { query, page }) : same
    if (page.messages.length === 0 && performance.now() < beatAt) continue
    yield said(page)
    beatAt = performance.now() + beatSeconds * 1000
  }
  const reason = stopping.aborted ? 'shutdown' : 'time'
  if (!reader.gone.aborted) yield [{ type: 'end', reason, cursor: page.cursor }]
}

function said({ messages, cursor }: Page): readonly StreamMessage[] {
  return messages.length > 0 ? messages : [{ type: 'position', cursor }]
}

interface Page {
  messages: StreamMessage[]
  /** Behind everything that has been said. */
  cursor: string
  hasMore: boolean
  /** How many events to ask for next. */
  limit: number
}

async function firstPage(following: Following, reader: Reader, query: StreamQuery): Promise<Page> {
  const { cursor, after, tail } = query
  const filter = filterOf(query)
  return await read(following, reader, async (sql) => {
    if (tail === 0) {
      const now = encodeCursor(await currentPosition(sql, reader.ctx))
      await listEvents(sql, reader.ctx, { ...filter, after: now, limit: 1 })
      return { messages: [], cursor: now, hasMore: false, limit: FIRST_LIMIT }
    }
    const limit = tail ?? FIRST_LIMIT
    const place = tail === undefined ? { cursor, after } : { tail }
    const found = await listEventsFrom(sql, reader.ctx, { ...filter, ...place, limit })
    // What is older than the last events asked for is not meant.
    return pageOf({ ...found, hasMore: found.hasMore && tail === undefined }, limit)
  })
}

async function nextPage(
  following: Following,
  reader: Reader,
  { query, page }: { query: StreamQuery; page: Page },
): Promise<Page> {
  const { cursor: after, limit } = page
  return await read(following, reader, async (sql) =>
    pageOf(await listEventsFrom(sql, reader.ctx, { ...filterOf(query), after, limit }), limit),
  )
}

function filterOf({ types, entityType, entityId, workspaceId, actorId, from, to }: StreamQuery) {
  return { types, entityType, entityId, workspaceId, actorId, from, to }
}

async function read(
  { db }: Following,
  { ctx, enter }: Reader,
  work: (sql: Sql) => Promise<Page>,
): Promise<Page> {
  using _ = await enter(ctx)
  return await transaction(db, 'read only', work)
}

/** As many of the events as a batch may hold; the rest is read again when its turn comes. */
function pageOf(
  { items, nextCursor, hasMore }: Awaited<ReturnType<typeof listEvents>>,
  limit: number,
): Page {
  const messages: StreamMessage[] = []
  let chars = 0
  for (const event of items) {
    if (chars > MAX_BATCH_CHARS) break
    messages.push({ type: 'event', event })
    chars += sizeOf(event)
  }
  const last = items[messages.length - 1]
  if (last === undefined || messages.length === items.length) {
    return { messages, cursor: nextCursor, hasMore, limit: Math.min(limit * 2, MAX_LIMIT) }
  }
  return { messages, cursor: last.cursor, hasMore: true, limit: messages.length }
}

const ENVELOPE_CHARS = 700

/** About how long an event is on the wire. */
function sizeOf({ payload }: JournalEvent): number {
  return JSON.stringify(payload).length + ENVELOPE_CHARS
}
