import type { Hono } from 'hono'
import * as streams from '#contract/event-stream.ts'
import * as events from '#contract/events-api.ts'
import * as operations from '#contract/journal-operations.ts'
import type { RouteInput } from '#contract/route.ts'
import type { Sql } from '#db/sql.ts'
import { floorCursors } from '#events/floors.ts'
import type { Heads } from '#events/heads.ts'
import type { Move } from '#events/retention.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Live, StreamOptions } from '#http/open-stream.ts'
import { bindSocket } from '#http/socket.ts'
import { bindSse } from '#http/sse.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requireAnyPermission, requirePlace } from '#org/permission.ts'
import { followJournal } from './follow-journal.ts'
import { readJournalStatus } from './journal-status.ts'
import { listEventsFrom } from './list-events.ts'
import { moveEvents } from './move-events.ts'

export interface JournalOptions {
  /** Younger events are neither archived nor pruned, whatever a request asks for. */
  minAgeSeconds: number
  streams: StreamOptions & { heads: Heads }
}

export function journalRoutes(app: Hono, deps: Deps, options: JournalOptions): void {
  bind(app, deps, events.listEvents, async (sql, ctx, { query }) => listEventsFrom(sql, ctx, query))
  bindStreams(app, deps, options.streams)

  bind(app, deps, operations.getJournalStatus, async (sql, ctx) => {
    requireAnyPermission(ctx, ['operations.read', 'operations.manage'])
    requirePlace(ctx, null)
    return await readJournalStatus(sql, ctx, options)
  })

  const move =
    (kind: Move) =>
    async (sql: Sql, ctx: Ctx, { body }: Retention) => {
      // A journal is the whole tenant's.
      requirePlace(ctx, null)
      const minAgeSeconds = Math.max(options.minAgeSeconds, body.minAgeSeconds ?? 0)
      const { floors, ...moved } = await moveEvents(sql, ctx, kind, { ...body, minAgeSeconds })
      return { ...moved, ...floorCursors(floors) }
    }
  bind(app, deps, operations.archiveJournal, move('archive'))
  bind(app, deps, operations.pruneJournal, move('prune'))
}

function bindStreams(app: Hono, deps: Deps, options: JournalOptions['streams']): void {
  const following = { db: deps.db, ...options }
  const follow = (live: Live, { query }: RouteInput<typeof streams.streamEvents>) => {
    const { lastEventId: after } = live
    const from = after === undefined ? {} : { after, cursor: undefined, tail: undefined }
    return followJournal(following, live, { ...query, ...from })
  }
  bindSse(app, { deps, options, follow, route: streams.streamEvents })
  bindSocket(app, { deps, options, follow, route: streams.streamEventsBySocket })
}

type Retention = RouteInput<typeof operations.archiveJournal>
