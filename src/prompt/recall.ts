import { cleanStart } from './clean.ts'
import { asList, asRecord, asText, isVisible } from './json-view.ts'
import { kindOf, MAX_LINE_CHARS, renderLine } from './line.ts'

const FIRST_KINDS = ['current', 'relevant_facts', 'related_entities', 'documents']

export interface RecallSection {
  kind: string
  items: Record<string, unknown>[]
}

/**
 * The sections of a memory pack in the order they are shown, those of one kind joined, without items
 * that are never shown: no text, or an echo of the caller's own state.
 */
export function recallSections(pack: Record<string, unknown>): RecallSection[] {
  const byKind = new Map<string, Record<string, unknown>[]>(FIRST_KINDS.map((kind) => [kind, []]))
  for (const value of asList(pack.sections)) {
    const section = asRecord(value)
    if (section === undefined) continue
    const kind = kindOf(section.kind)
    const items = byKind.get(kind) ?? []
    byKind.set(kind, items)
    for (const item of asList(section.items)) {
      const record = asRecord(item)
      if (record !== undefined && isShown(record)) items.push(record)
    }
  }
  return Array.from(byKind, ([kind, items]) => ({ kind, items }))
}

/** `- [title: ]text [source: label]`, or undefined when cleaning leaves no text. */
export function recallLine(item: Record<string, unknown>): string | undefined {
  const text = cleanStart(asText(item.text), MAX_LINE_CHARS)
  if (text === '') return undefined
  const title = cleanStart(asText(item.title), MAX_LINE_CHARS)
  const body = title === '' || text.startsWith(title) ? text : `${title}: ${text}`
  return renderLine({ item, body })
}

function isShown(item: Record<string, unknown>): boolean {
  return isVisible(asText(item.text)) && asRecord(item.provenance)?.origin !== 'caller'
}
