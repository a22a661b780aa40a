import { setTimeout as pause } from 'node:timers/promises'
import { TransportError } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import type { JournalEvent } from '#contract/events.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, wholeNumber } from './option-values.ts'

const DEFAULT_REPLAY = 10
const PAGE = '200'
const POLL_MS = 1000
const MAX_PAUSE_MS = 30_000

const tail = command({
  name: 'events tail',
  summary: 'Show the last events of the journal, or those after a cursor',
  details: [
    'One line for each event; with --json one JSON document a line. The cursor to go on with is told on',
    'stderr at the end. No event is skipped or shown twice.',
  ],
  options: {
    replay: {
      value: 'count',
      summary: `Begin with the last so many, 0 to 200 (${DEFAULT_REPLAY})`,
    },
    after: { value: 'cursor', summary: 'Begin after this cursor instead' },
    follow: { summary: 'Wait for further events until interrupted' },
    type: { value: 'prefix', repeat: true, summary: 'Only types such as task. or run.failed' },
    entity: { value: 'id', summary: 'Only those about this entity' },
  },
  async run(cli, { values }) {
    const filter = given({ types: values.type && [...values.type], entityId: values.entity })
    const { replay, after, follow = false } = values
    if (replay !== undefined && after !== undefined) {
      throw new CliError('--replay and --after do not go together')
    }
    let cursor = after ?? (await showLast(cli, wholeNumber(replay, '--replay'), filter))
    if (after !== undefined || follow) cursor = await showRest(cli, cursor, filter, follow)
    cli.screen.note(`cursor: ${cursor}`)
  },
})

type Filter = { types?: string[]; entityId?: string }

/** Answers the cursor behind the last event there is. */
async function showLast(cli: Cli, replay = DEFAULT_REPLAY, filter: Filter = {}): Promise<string> {
  const wanted = Math.max(replay, 1)
  const page = await cli.call(listEvents, { query: { ...filter, tail: String(wanted) } })
  if (replay > 0) for (const event of page.items) show(cli, event)
  return page.nextCursor
}

/** Everything after the cursor; with `follow` until interrupted, through pauses of the server too. */
async function showRest(cli: Cli, from: string, filter: Filter, follow: boolean): Promise<string> {
  let cursor = from
  for (let failures = 0; ;) {
    const page = await cli
      .call(listEvents, { query: { ...filter, after: cursor, limit: PAGE } })
      .catch((error: unknown) => {
        if (!follow || !(error instanceof TransportError)) throw error
        if (failures === 0) cli.screen.warn(`${error.message}; trying again`)
        failures += 1
        return undefined
      })
    if (page) {
      failures = 0
      for (const event of page.items) show(cli, event)
      cursor = page.nextCursor
      if (page.hasMore) continue
      if (!follow) return cursor
    }
    const waitMs = Math.min(POLL_MS * 2 ** Math.max(failures - 1, 0), MAX_PAUSE_MS)
    await pause(waitMs, undefined, { signal: cli.io.signal })
  }
}

function show({ screen }: Cli, event: JournalEvent): void {
  const { occurredAt, type, entityType, entityId, actorId, payload } = event
  const actor = actorId === null ? '-' : actorId.slice(-8)
  const about = [payload['publicId'], payload['title'] ?? payload['displayName'] ?? payload['name']]
  const detail = payload['reason'] ?? payload['intent'] ?? payload['content'] ?? payload['kind']
  const words = [...about, detail].filter((word) => typeof word === 'string').join(' ')
  const place = `${entityType}:${entityId}`
  screen.item(event, `${occurredAt} ${type.padEnd(24)} ${place} by ${actor} ${words.slice(0, 200)}`)
}

export const eventsCommands = [tail]
