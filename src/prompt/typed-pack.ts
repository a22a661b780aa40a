import { stripFence } from '#lib/fence.ts'
import { isSensitiveKey } from '#lib/portability.ts'
import { cleanStart, cutText } from './clean.ts'
import { asList, asRecord, asText, firstText } from './json-view.ts'
import { kindOf, MAX_LINE_CHARS, renderLine } from './line.ts'

const MAX_ATTRIBUTES = 6
const MAX_ATTRIBUTE_CHARS = 120
const MAX_REFERENCE_CHARS = 200
const DEFAULT_BUDGET_TOKENS = 3000
const CHARS_PER_TOKEN = 4
const INFERRED = ' [inferred]'

export interface TypedPack {
  /** How much of the section it may fill, in characters. */
  limitChars: number
  /** The line that says what this is. */
  note: string
  entities: { kind: string; item: Record<string, unknown>; isAnchor: boolean }[]
  relations: Record<string, unknown>[]
}

/** The graph pack of the task, or undefined when there is none, or nothing in it. */
export function readTypedPack(taskContext: unknown): TypedPack | undefined {
  const context = asRecord(taskContext)
  const pack = asRecord(context?.pack)
  if (context === undefined || context.status !== 'ok' || pack === undefined) return undefined
  const anchors = anchorKeys(pack.anchors ?? context.anchors)
  const entities = entitySections(pack.sections).flatMap(([kind, items]) =>
    items.map((item) => ({
      kind,
      item,
      isAnchor: item.anchor === true || anchors.has(keyOf(item)),
    })),
  )
  const relations = asList(pack.facts ?? pack.relations)
    .map(asRecord)
    .filter((fact) => fact !== undefined)
  if (entities.length === 0 && relations.length === 0) return undefined
  return {
    limitChars: budgetTokens(context.budgetTokens) * CHARS_PER_TOKEN,
    note: noteLine(context, pack, { entities: entities.length, relations: relations.length }),
    entities,
    relations,
  }
}

/** `- key[: title] (k=v, …) [anchor, inferred] [source: …]`, or undefined without a key. */
export function entityLine(item: Record<string, unknown>, isAnchor: boolean): string | undefined {
  const key = cleanStart(keyOf(item), MAX_LINE_CHARS)
  if (key === '') return undefined
  const title = cleanStart(asText(item.title), MAX_LINE_CHARS)
  const attributes = attributeList(item.attributes ?? item.props)
  const flags = [...(isAnchor ? ['anchor'] : []), ...(isInferred(item) ? ['inferred'] : [])]
  const named = title === '' || title === key ? key : `${key}: ${title}`
  return renderLine({
    item,
    body: attributes === '' ? named : `${named} (${attributes})`,
    flags: flags.length === 0 ? '' : ` [${flags.join(', ')}]`,
  })
}

/** `- subject relation object [inferred]`, or undefined when one of the three is missing. */
export function relationLine(fact: Record<string, unknown>): string | undefined {
  const parts = endsOf(fact).map((end) =>
    cutText(cleanStart(end, MAX_REFERENCE_CHARS), MAX_REFERENCE_CHARS),
  )
  if (parts.includes('')) return undefined
  return renderLine({
    item: fact,
    body: parts.join(' '),
    flags: isInferred(fact) ? INFERRED : '',
    hasSource: false,
  })
}

/** About the length of an entity's line, without the cost of cleaning it. */
export function roughEntityChars(item: Record<string, unknown>): number {
  return Math.min(3 + keyOf(item).length + asText(item.title).length, MAX_LINE_CHARS)
}

/** About the length of a relation's line, without the cost of cleaning it. */
export function roughRelationChars(fact: Record<string, unknown>): number {
  const chars = 5 + endsOf(fact).join('').length + (isInferred(fact) ? INFERRED.length : 0)
  return Math.min(chars, MAX_LINE_CHARS)
}

function noteLine(
  context: Record<string, unknown>,
  pack: Record<string, unknown>,
  shown: { entities: number; relations: number },
): string {
  const asOf = cleanStart(firstText(context.asOf, context.as_of, pack.as_of, pack.asOf), 40)
  const id = cleanStart(firstText(context.contextPackId, context.context_pack_id), 80)
  const omitted = asRecord(pack.omitted ?? context.omitted) ?? {}
  const left = [countOf(omitted.entities), countOf(omitted.facts)]
  const body = [
    `Typed pack: ${shown.entities} entities, ${shown.relations} relations`,
    ...(left.some((count) => count > 0) ? [`${left[0]} and ${left[1]} left out`] : []),
    ...(asOf === '' ? [] : [`as of ${cutText(asOf, 40)}`]),
    ...(id === '' ? [] : [`context pack ${cutText(id, 80)}`]),
  ].join(', ')
  // A cut may have ended a word inside what only then reads as a tag.
  return stripFence(`- ${body}`)
}

/** Sections as a list of `{kind, items}` or as an object of lists by kind; kinds that repeat joined. */
function entitySections(value: unknown): [string, Record<string, unknown>[]][] {
  const record = asRecord(value)
  const sections: [unknown, unknown][] =
    record === undefined
      ? asList(value).map((section) => {
          const { kind, items, entities } = asRecord(section) ?? {}
          return [kind, items ?? entities]
        })
      : Object.entries(record)
  const byKind = new Map<string, Record<string, unknown>[]>()
  for (const [rawKind, rawItems] of sections) {
    const kind = kindOf(rawKind)
    const items = byKind.get(kind) ?? []
    byKind.set(kind, items)
    for (const item of asList(rawItems)) {
      const entity = asRecord(item)
      if (entity !== undefined) items.push(entity)
    }
  }
  return [...byKind]
}

function anchorKeys(anchors: unknown): Set<string> {
  const resolved = asList(anchors).flatMap((anchor) => asList(asRecord(anchor)?.resolved))
  return new Set(
    resolved
      .map((entry) => (typeof entry === 'string' ? entry : keyOf(asRecord(entry) ?? {})))
      .filter((key) => key !== ''),
  )
}

function attributeList(value: unknown): string {
  return Object.entries(asRecord(value) ?? {})
    .filter(([, attribute]) => ['string', 'number', 'boolean'].includes(typeof attribute))
    .slice(0, MAX_ATTRIBUTES)
    .map(([key, attribute]) => {
      const name = cutText(cleanStart(key, MAX_ATTRIBUTE_CHARS), MAX_ATTRIBUTE_CHARS)
      const text = cleanStart(String(attribute), MAX_ATTRIBUTE_CHARS)
      return `${name}=${isSensitiveKey(key) ? '<redacted>' : cutText(text, MAX_ATTRIBUTE_CHARS)}`
    })
    .join(', ')
}

function endsOf(fact: Record<string, unknown>): string[] {
  return [fact.subject, fact.relation ?? fact.predicate, fact.object].map((value) => {
    const record = asRecord(value)
    return record === undefined ? asText(value) : keyOf(record)
  })
}

function keyOf(item: Record<string, unknown>): string {
  return firstText(item.key, item.natural_key, item.naturalKey, item.id, item.title, item.text)
}

function isInferred(item: Record<string, unknown>): boolean {
  return item.inferred === true || item.evidence === 'inferred'
}

function budgetTokens(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
    ? value
    : DEFAULT_BUDGET_TOKENS
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
