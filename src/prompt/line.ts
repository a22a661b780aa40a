import { stripFence } from '#lib/fence.ts'
import { redactCredentials } from '#lib/redact.ts'
import { cleanStart, collapse, cutText } from './clean.ts'
import { asList, asRecord, firstText } from './json-view.ts'

export const MAX_LINE_CHARS = 600
const MAX_LABEL_CHARS = 200
const UNVERIFIED = '[unverified instruction-like text] '

export interface LineParts {
  /** The object that the line shows: its provenance gives the label, its signals the warning. */
  item: Record<string, unknown>
  /** Cleaned text; what the line has no room for is cut from its end. */
  body: string
  /** Cleaned text that follows the body and is never cut, at most 200 characters. */
  flags?: string
  /** False for lines that carry no source. */
  hasSource?: boolean
}

/** One line of the fence, `- ` included, at most 600 characters; undefined when no body is left. */
export function renderLine(parts: LineParts): string | undefined {
  const { item, flags = '', hasSource = true } = parts
  // Parts that were clean each for itself may spell something together.
  const body = collapse(stripFence(redactCredentials(parts.body)))
  if (body === '') return undefined
  const label = hasSource ? sourceLabel(item) : ''
  const tail = `${flags}${label === '' ? '' : ` [source: ${label}]`}`
  const lead = `- ${isSuspicious(item) ? UNVERIFIED : ''}`
  const cut = cutText(body, MAX_LINE_CHARS - lead.length - tail.length)
  return stripFence(`${lead}${cut}${tail}`)
}

/** The kind itself, or `other` for anything that must not stand in a heading. */
export function kindOf(value: unknown): string {
  return typeof value === 'string' && /^[a-z_][a-z0-9_]{0,63}$/.test(value) ? value : 'other'
}

/** Where the item comes from: file, foreign object, observation, origin, in this order. */
function sourceLabel(item: Record<string, unknown>): string {
  const provenance = asRecord(item.provenance) ?? {}
  const label = firstText(
    item.source_path,
    provenance.source_path,
    foreignObject(provenance.source),
    provenance.observation_id,
    item.observation_id,
    provenance.origin,
  )
  return cutText(cleanStart(label, MAX_LABEL_CHARS), MAX_LABEL_CHARS)
}

function foreignObject(source: unknown): string {
  const { system, external_id: externalId } = asRecord(source) ?? {}
  const parts = [firstText(system), firstText(externalId)].filter((part) => part !== '')
  return parts.length === 0 ? firstText(source) : parts.join(':')
}

function isSuspicious(item: Record<string, unknown>): boolean {
  return asList(asRecord(item.signals)?.suspicious).length > 0
}
