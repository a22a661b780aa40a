import type { Reader, Relevance } from '../recall/reader.ts'
import { isVisible } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { GONE, REPLACED, UNSCOPED } from './columns.ts'
import { KINDS, scopeLanes } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'

/** Which slots a read may use: the form of `reader.sql.ts` over the index. */
export interface Sight {
  /** 1 for each audience, by number, that the reader belongs to. */
  audiences: Uint8Array
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
  const { flags, kind, audience, startsAt, validTo, ingestedAt, closedAt, retiredAt } =
    index.columns
  const wanted = KINDS.map((name) => kinds.includes(name))
  const seen = seenAudiences(index, reader.audience)
  const relevant = relevantSlots(index, reader.relevance)
  const asOf = reader.asOf === null ? now : microsOf(reader.asOf)
  const knownAt = reader.knownAt === null ? Infinity : microsOf(reader.knownAt)
  // Without a moment of knowledge what was retired is not known, and every end is.
  const retiredBy = reader.knownAt === null ? Number.MAX_VALUE : knownAt

  const isBegun = (slot: number): boolean =>
    ((flags[slot] ?? GONE) & GONE) === 0 &&
    seen[audience[slot] ?? 0] === 1 &&
    wanted[kind[slot] ?? 0] === true &&
    (startsAt[slot] ?? 0) <= asOf &&
    (retiredAt[slot] ?? 0) > retiredBy &&
    (ingestedAt[slot] ?? 0) <= knownAt
  return {
    audiences: seen,
    isReadable: (slot) =>
      isBegun(slot) &&
      ((validTo[slot] ?? 0) > asOf || (closedAt[slot] ?? 0) > knownAt) &&
      (relevant === undefined || relevant[slot] === 1),
    isReplaced: (slot) => ((flags[slot] ?? 0) & REPLACED) !== 0 && isBegun(slot),
  }
}

function seenAudiences({ audiences }: NamespaceIndex, audience: Audience): Uint8Array {
  return Uint8Array.from(audiences.names, (names) => {
    const scopes = names === '' ? [] : names.split('\n')
    return isVisible(scopes, audience) ? 1 : 0
  })
}

function relevantSlots(index: NamespaceIndex, relevance: Relevance): Uint8Array | undefined {
  if (relevance.filter === 'none') return undefined
  const { columns, slots } = index
  const relevant = new Uint8Array(slots)
  const everywhere = index.audiences.find('')
  for (let slot = 0; slot < slots; slot++) {
    const isOpen =
      relevance.filter === 'placed'
        ? columns.audience[slot] === everywhere
        : ((columns.flags[slot] ?? 0) & UNSCOPED) !== 0
    if (isOpen) relevant[slot] = 1
  }
  for (const scope of relevance.scopes) {
    const term = index.terms.find(...scopeLanes(index.namespaceId, scope))
    if (term === -1) continue
    for (const segment of index.postings.segments(term)) {
      for (let i = segment.from; i < segment.to; i++) relevant[segment.slots[i] ?? 0] = 1
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
