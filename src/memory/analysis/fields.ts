import type { TextField } from './terms-of.ts'

/** What is said with fewer words or chosen with more care counts more. */
const SYMBOL_NAME = 3
const DOCSTRING = 2
const KIND = 0.5
const MAX_LEAVES = 200

/** The searchable text of an observation: what was said, its title and caption, and its kind. */
export function observationFields(observation: {
  kind: string
  content: string | null
  data: Readonly<Record<string, unknown>> | null
}): TextField[] {
  const { kind, content, data } = observation
  const named = ['title', 'caption'].flatMap((name) => textOf(data?.[name]))
  const said = content?.trim() ? [content] : leavesOf(data ?? {})
  return [...[...said, ...named].map((text) => ({ text })), { text: kind, weight: KIND }]
}

/** The searchable text of a chunk: its own, the heading it stands under, the document's title. */
export function chunkFields(chunk: {
  docType: string
  title: string | null
  heading: string | null
  text: string
  meta: Readonly<Record<string, unknown>>
}): TextField[] {
  const isCode = chunk.docType === 'code'
  return [
    { text: chunk.text },
    { text: chunk.title ?? '', weight: isCode ? SYMBOL_NAME : 1 },
    { text: chunk.heading ?? '' },
    ...(isCode ? docstring(chunk) : []),
  ].filter(({ text }) => text !== '')
}

/** What a docstring says first: its summary, without the lists of parameters and results. */
function docstring({ text, meta }: { text: string; meta: Readonly<Record<string, unknown>> }) {
  const [given = docstringIn(text)] = textOf(meta['docstring'])
  const [summary = ''] = given.trimStart().split(AFTER_SUMMARY)
  return [{ text: summary, weight: DOCSTRING }]
}

const AFTER_SUMMARY =
  /\n[\s*]*(?:\n|[@:]\w|(?:Args|Arguments|Parameters|Params|Returns?|Raises|Example)\b)/u

function docstringIn(text: string): string {
  const start = /"""|'''|\/\*\*/.exec(text)
  if (!start) return ''
  const end = text.indexOf(start[0] === '/**' ? '*/' : start[0], start.index + 3)
  return end === -1 ? '' : text.slice(start.index + 3, end)
}

/** The searchable text of an entity: its names and what its attributes say. */
export function nodeFields(node: {
  key: string
  title: string
  aliases: readonly string[]
  properties: Readonly<Record<string, unknown>>
}): TextField[] {
  const { key, title, aliases, properties } = node
  // A text is found by its chunks.
  if (typeof properties['content'] === 'string') return []
  const names = [...new Set([title, key, ...aliases])]
  return [...names, ...leavesOf(properties)].map((text) => ({ text }))
}

/** The searchable text of a fact: both ends by their keys and titles, and the relation in words. */
export function factFields(fact: {
  subject: string
  predicate: string
  object: string
  titles: readonly string[]
  attributes: Readonly<Record<string, unknown>>
}): TextField[] {
  const { subject, predicate, object, titles, attributes } = fact
  const names = [...new Set([subject, object, ...titles])]
  return [...names, predicate.replaceAll('_', ' ').toLowerCase(), ...leavesOf(attributes)].map(
    (text) => ({ text }),
  )
}

function textOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : []
}

/** Texts and numbers anywhere in an object, ids of machines aside; at most {@link MAX_LEAVES}. */
function leavesOf(value: unknown, found: string[] = []): string[] {
  if (found.length >= MAX_LEAVES) return found
  if (typeof value === 'string' && value !== '' && !UUID.test(value)) found.push(value)
  else if (typeof value === 'number') found.push(String(value))
  else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) leavesOf(item, found)
  }
  return found
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
