import { followEvents } from '#client/follow-events.ts'
import { listEvents } from '#contract/events-api.ts'
import type { JournalEvent } from '#contract/events.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, wholeNumber } from './option-values.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const DEFAULT_REPLAY = 10
const PAGE = '200'

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
    workspace: { value: 'workspace', summary: 'Only those of this workspace and those below it' },
    actor: { value: 'principal', summary: 'Only what this principal did' },
  },
  async run(cli, { values }) {
    const { replay, after, follow = false, workspace } = values
    if (replay !== undefined && after !== undefined) {
      throw new CliError('--replay and --after do not go together')
    }
    const filter = given({
      types: values.type && [...values.type],
      entityId: values.entity,
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      actorId: values.actor,
    })
    let cursor = after ?? (await showLast(cli, wholeNumber(replay, '--replay'), filter))
    if (follow) return await showOn(cli, cursor, filter)
    if (after !== undefined) cursor = await showRest(cli, cursor, filter)
    cli.screen.note(`cursor: ${cursor}`)
  },
})

type Filter = { types?: string[]; entityId?: string; workspaceId?: string; actorId?: string }

/** Answers the cursor behind the last event there is. */
async function showLast(cli: Cli, replay = DEFAULT_REPLAY, filter: Filter = {}): Promise<string> {
  const wanted = Math.max(replay, 1)
  const page = await cli.call(listEvents, { query: { ...filter, tail: String(wanted) } })
  if (replay > 0) for (const event of page.items) show(cli, event)
  return page.nextCursor
}

/** Everything after the cursor; answers the cursor behind it. */
async function showRest(cli: Cli, from: string, filter: Filter): Promise<string> {
  for (let cursor = from; ;) {
    const page = await cli.call(listEvents, { query: { ...filter, after: cursor, limit: PAGE } })
    for (const event of page.items) show(cli, event)
    cursor = page.nextCursor
    if (!page.hasMore) return cursor
  }
}

/** What comes after the cursor until interrupted, through pauses of the server too. */
async function showOn(cli: Cli, from: string, filter: Filter): Promise<void> {
  let isTroubled = false
  const reader = followEvents(await cli.streamClient(), {
    query: { ...filter, after: from },
    signal: cli.io.signal,
    onTrouble: ({ message }) => {
      if (!isTroubled) cli.screen.warn(`${message}; trying again`)
      isTroubled = true
    },
  })
  try {
    for await (const event of reader) {
      isTroubled = false
      show(cli, event)
    }
  } finally {
    cli.screen.note(`cursor: ${reader.cursor ?? from}`)
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
