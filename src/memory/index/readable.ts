import type { Reader, Relevance } from '../recall/reader.ts'
import { KINDS, scopeLanes } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import { READABLE, SUCCEEDED, openMark } from './sights.ts'
import type { BaseSight } from './sights.ts'

/** Which slots a read may use: the form of `reader.sql.ts` over the index. */
export interface Sight {
  /** 1 for each audience, by number, that the reader belongs to. */
  audiences: Uint8Array
  /** By slot: `READABLE` for what is seen, true, relevant and of a kind asked for; `SUCCEEDED` as below. */
  marks: Uint8Array
  /** Seen by the reader, true at the moment asked about, relevant, of a kind asked for. */
  isReadable: (slot: number) => boolean
  /** Seen and begun, but another item took its place: worth telling. */
  isReplaced: (slot: number) => boolean
}

/** `now` is the database's clock in microseconds since 1970. */
export function sightOf(
  index: NamespaceIndex,
  reader: Reader,
  kinds: readonly (typeof KINDS)[number][],
  now: number,
): Sight {
  const view = {
    audience: reader.audience,
    kinds: KINDS.map((name) => kinds.includes(name)),
    asOf: reader.asOf === null ? undefined : microsOf(reader.asOf),
    knownAt: reader.knownAt === null ? Infinity : microsOf(reader.knownAt),
  }
  const base = index.sights.of(index, view, now)
  const marks = relevantMarks(index, base, reader.relevance)
  return {
    audiences: base.audiences,
    marks,
    isReadable: (slot) => ((marks[slot] ?? 0) & READABLE) !== 0,
    isReplaced: (slot) => ((marks[slot] ?? 0) & SUCCEEDED) !== 0,
  }
}

/** The same marks, but what is about something else is not readable. */
function relevantMarks(
  index: NamespaceIndex,
  { marks }: BaseSight,
  relevance: Relevance,
): Uint8Array {
  if (relevance.filter === 'none') return marks
  const relevant = marks.slice(0, index.slots)
  const open = openMark(relevance.filter)
  for (let slot = 0; slot < relevant.length; slot++) {
    const mark = relevant[slot] ?? 0
    if ((mark & open) === 0) relevant[slot] = mark & ~READABLE
  }
  for (const scope of relevance.scopes) {
    const term = index.terms.find(...scopeLanes(index.namespaceId, scope))
    if (term === -1) continue
    for (const { slots, from, to } of index.postings.segments(term)) {
      for (let i = from; i < to; i++) {
        const slot = slots[i] ?? 0
        relevant[slot] = marks[slot] ?? 0
      }
    }
  }
  return relevant
}

/** Microseconds since 1970 of an ISO 8601 moment in UTC with up to six digits of a second. */
export function microsOf(iso: string): number {
  const digits = /\.(\d{1,6})/.exec(iso)?.[1] ?? ''
  const whole = Date.parse(iso.replace(/\.\d+/, ''))
  return whole * 1_000 + Number(digits.padEnd(6, '0'))
}
