import type { JournalEvent } from '#contract/events.ts'
import { externalIdOf, JOURNAL_SOURCE } from '#contract/observation-id.ts'
import { stampScopes } from '#contract/visibility.ts'
import { MAPPING_VERSION, WHITE_LIST } from './white-list.ts'

/** What a recorded observation says, kept apart from the journal so that it can be erased. */
export interface RecordedContent {
  content: string
  data: Record<string, unknown> | null
  assertions: readonly Record<string, unknown>[] | null
}

/** Payload fields that name other entities, and the scope type each becomes. */
const SCOPE_OF: readonly (readonly [field: string, type: string])[] = [
  ['taskId', 'task'],
  ['runId', 'run'],
  ['parentProjectId', 'project'],
  ['fromTaskId', 'task'],
  ['toTaskId', 'task'],
  ['artifactId', 'artifact'],
  ['goalId', 'goal'],
  ['parentGoalId', 'goal'],
  ['principalId', 'actor'],
]

const MAX_SCOPES = 20

/** One observation as the memory service takes it. */
export interface Observation {
  source: typeof JOURNAL_SOURCE & { external_id: string }
  kind: string
  occurred_at: string
  subject: { type: string; id: string }
  actor?: { type: 'principal'; id: string }
  scopes: string[]
  content: string
  data: Record<string, unknown>
  assertions?: readonly Record<string, unknown>[]
  provenance: { uri: string }
}

/**
 * Translates one journal event for memory; null for everything outside the white list, and for a
 * recorded observation whose content has been erased. Pure: the same event always gives the same
 * observation, so a second delivery is recognised by its `external_id`.
 */
export function toObservation(
  event: JournalEvent,
  recorded: RecordedContent | undefined,
): Observation | null {
  const fields = Object.hasOwn(WHITE_LIST, event.type) ? WHITE_LIST[event.type] : undefined
  if (!fields) return null
  const listed = listedFields(event.payload, fields)
  const said =
    event.type === RECORDED ? fromRecorded(event, recorded) : fromLifecycle(event, listed)
  if (!said) return null
  return {
    source: { ...JOURNAL_SOURCE, external_id: externalIdOf(event.id) },
    ...said,
    subject: { type: event.entityType, id: event.entityId },
    ...(event.actorId !== null && { actor: { type: 'principal', id: event.actorId } }),
    scopes: scopesOf(event),
    data: {
      ...omit(recorded?.data ?? {}, fields),
      ...listed,
      mappingVersion: MAPPING_VERSION,
      eventSequence: event.sequence,
      ...(event.traceRunId !== null && { traceRunId: event.traceRunId }),
    },
    provenance: { uri: `control-plane://events/${event.id}` },
  }
}

const RECORDED = 'observation.recorded'

type Said = Pick<Observation, 'kind' | 'occurred_at' | 'content' | 'assertions'>

function fromRecorded(event: JournalEvent, recorded: RecordedContent | undefined): Said | null {
  if (!recorded) return null
  const { kind, observedAt } = event.payload
  return {
    kind: typeof kind === 'string' ? kind : 'note',
    occurred_at: typeof observedAt === 'string' ? observedAt : event.occurredAt,
    content: recorded.content,
    ...(recorded.assertions?.length && { assertions: recorded.assertions }),
  }
}

function fromLifecycle({ type, occurredAt }: JournalEvent, listed: Listed): Said {
  return { kind: type, occurred_at: occurredAt, content: describe(type, listed) }
}

type Listed = Readonly<Record<string, unknown>>

function listedFields(payload: JournalEvent['payload'], fields: readonly string[]): Listed {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = payload[field]
      return value === undefined || value === null ? [] : [[field, value]]
    }),
  )
}

/** The author's own data may not stand in for a field that the server vouches for. */
function omit(data: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)))
}

/**
 * Who may see an observation, and what it is about. The author is never among the latter: being the
 * author is not being the audience.
 */
function scopesOf(event: JournalEvent): string[] {
  const { payload, actorId, workspaceId } = event
  const entityType = event.entityType === 'principal' ? 'actor' : event.entityType
  const related = SCOPE_OF.flatMap(([field, type]) => {
    const id = payload[field]
    return typeof id === 'string' ? [`${type}:${id}`] : []
  })
  const visibility = payload['visibility'] === 'private' ? 'private' : 'workspace'
  const audience = stampScopes({ visibility, workspaceId, authorId: actorId })
  const about = [`${entityType}:${event.entityId}`, ...related].filter(
    (scope) => !scope.startsWith('workspace:'),
  )
  return [...new Set([...audience, ...about])].slice(0, MAX_SCOPES)
}

/** `type: label: detail`, as far as the listed fields have a label and a detail. */
function describe(type: string, listed: Listed): string {
  const label = firstText(listed, ['title', 'name', 'displayName', 'publicId', 'slug'])
  const detail = firstText(listed, ['reason', 'comment', 'intent'])
  return [type, ...label, ...detail].join(': ')
}

function firstText(listed: Listed, fields: readonly string[]): string[] {
  const texts = fields
    .map((field) => listed[field])
    .filter((value) => typeof value === 'string' && value !== '')
  return (texts as string[]).slice(0, 1)
}
