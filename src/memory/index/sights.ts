import { isVisible } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { GONE, REPLACED, UNSCOPED } from './columns.ts'
import type { Columns } from './columns.ts'
import type { NamespaceIndex } from './namespace-index.ts'

/** Marks of a slot. Seen by the reader, true at the moment asked about, of a kind asked for. */
export const READABLE = 1
/** Seen and begun, but another item took its place: worth telling. */
export const SUCCEEDED = 2
/** Of no subject, of no audience: what relevance asks. */
const OF_NOTHING = 4
const OF_EVERYBODY = 8

/** Who looks at what and when; moments are microseconds since 1970. */
export interface View {
  audience: Audience
  /** By number of a kind, whether it is asked for. */
  kinds: readonly boolean[]
  /** The moment of the world asked about; undefined is whatever moment it is. */
  asOf: number | undefined
  /** The moment of knowledge; infinite is all we know. */
  knownAt: number
}

/** What a reader sees, by slot, whatever the question is about. */
export interface BaseSight {
  marks: Uint8Array
  /** 1 for each audience, by number, that the reader belongs to. */
  audiences: Uint8Array
}

/**
 * What readers see, kept from one question to the next: whoever reads alike shares it, a change of an
 * item costs the judgement of that item, and the passing of time the judgement of all only when something
 * begins or ends.
 */
export interface Sights {
  /** `now` is the database's clock in microseconds since 1970. */
  of: (index: NamespaceIndex, view: View, now: number) => BaseSight
  /** An item in this slot is new or has changed. */
  changed: (slot: number) => void
  readonly bytes: number
}

interface Kept extends BaseSight {
  key: string
  judge: Judge
  slots: number
  /** How many changes it knows of. */
  changes: number
}

/** As many readers of different sorts are remembered. */
const MAX_KEPT = 6
/** After so many changes a sight is judged anew. */
const MAX_CHANGES = 20_000

export function createSights(): Sights {
  let kept: Kept[] = []
  let changes: number[] = []
  return {
    get bytes() {
      return kept.reduce((sum, { marks }) => sum + marks.byteLength, 0) + changes.length * 8
    },
    changed: (slot) => {
      if (kept.length === 0) return
      changes.push(slot)
      if (changes.length < MAX_CHANGES) return
      changes = []
      kept = []
    },
    of: (index, view, now) => {
      const key = JSON.stringify(view)
      const moment = view.asOf ?? now
      const known = kept.find((one) => one.key === key && one.judge.movesTo(moment))
      const sight = known ?? judged(index, key, { ...view, asOf: moment })
      kept = [sight, ...kept.filter((one) => one.key !== key)].slice(0, MAX_KEPT)
      if (known) bringUpToDate(index, sight, changes)
      else sight.changes = changes.length
      return sight
    },
  }
}

function judged(index: NamespaceIndex, key: string, view: View & { asOf: number }): Kept {
  const judge = createJudge(index, view)
  const marks = new Uint8Array(Math.ceil(index.slots * 1.1) + 64)
  for (let slot = 0; slot < index.slots; slot++) marks[slot] = judge.marksOf(slot)
  return { key, judge, marks, audiences: judge.audiences(), slots: index.slots, changes: 0 }
}

function bringUpToDate(index: NamespaceIndex, sight: Kept, changes: readonly number[]): void {
  if (sight.slots === index.slots && sight.changes === changes.length) return
  if (index.slots > sight.marks.length) {
    const wider = new Uint8Array(Math.ceil(index.slots * 1.2))
    wider.set(sight.marks)
    sight.marks = wider
  }
  for (let i = sight.changes; i < changes.length; i++) {
    const slot = changes[i] ?? 0
    sight.marks[slot] = sight.judge.marksOf(slot)
  }
  sight.audiences = sight.judge.audiences()
  sight.slots = index.slots
  sight.changes = changes.length
}

interface Judge {
  marksOf: (slot: number) => number
  audiences: () => Uint8Array
  /** Goes on to this moment, unless something that was judged begins or ends before it. */
  movesTo: (moment: number) => boolean
}

function createJudge(
  index: NamespaceIndex,
  { audience: reader, kinds, asOf: begun, knownAt }: View & { asOf: number },
): Judge {
  let asOf = begun
  // Without a moment of knowledge what was retired is not known, and every end is.
  const retiredBy = knownAt === Infinity ? Number.MAX_VALUE : knownAt
  let seen: Uint8Array = new Uint8Array(0)
  let since = -Infinity
  let until = Infinity
  const boundary = (at: number): void => {
    if (at > asOf) until = Math.min(until, at)
    else since = Math.max(since, at)
  }
  const audiences = () => (seen = seenAudiences(index, reader, seen))
  audiences()
  return {
    audiences,
    movesTo: (moment) => {
      if (moment < since || moment >= until) return false
      asOf = moment
      return true
    },
    marksOf: (slot) => {
      const { columns } = index
      const audience = columns.audience[slot] ?? 0
      if (audience >= seen.length) audiences()
      const isSeen = seen[audience] === 1 && kinds[columns.kind[slot] ?? 0] === true
      if (!isSeen || !isKnown(columns, slot, { knownAt, retiredBy })) return 0
      const startsAt = columns.startsAt[slot] ?? 0
      boundary(startsAt)
      boundary(columns.validTo[slot] ?? 0)
      if (startsAt > asOf) return 0
      const open = isOpen(columns, slot, { asOf, knownAt }) ? READABLE : 0
      return open | flagMarks(columns.flags[slot] ?? 0, index.audiences.names[audience] === '')
    },
  }
}

/** Whether an item that has begun goes on at the moment, as far as is known. */
function isOpen(
  { validTo, closedAt }: Columns,
  slot: number,
  { asOf, knownAt }: { asOf: number; knownAt: number },
): boolean {
  return (validTo[slot] ?? 0) > asOf || (closedAt[slot] ?? 0) > knownAt
}

/** Whether a slot stands for something that was known at the moment, and not retired by then. */
function isKnown(
  { flags, retiredAt, ingestedAt }: Columns,
  slot: number,
  { knownAt, retiredBy }: { knownAt: number; retiredBy: number },
): boolean {
  return (
    ((flags[slot] ?? GONE) & GONE) === 0 &&
    (retiredAt[slot] ?? 0) > retiredBy &&
    (ingestedAt[slot] ?? 0) <= knownAt
  )
}

function flagMarks(flags: number, isOfEverybody: boolean): number {
  return (
    ((flags & REPLACED) === 0 ? 0 : SUCCEEDED) |
    ((flags & UNSCOPED) === 0 ? 0 : OF_NOTHING) |
    (isOfEverybody ? OF_EVERYBODY : 0)
  )
}

/** What is known already, and of audiences that are new since. */
function seenAudiences({ audiences }: NamespaceIndex, audience: Audience, known: Uint8Array) {
  const { names } = audiences
  if (names.length === known.length) return known
  const seen = new Uint8Array(names.length)
  seen.set(known)
  for (let number = known.length; number < names.length; number++) {
    const name = names[number] ?? ''
    seen[number] = isVisible(name === '' ? [] : name.split('\n'), audience) ? 1 : 0
  }
  return seen
}

/** The mark of what is relevant whatever the subject. */
export function openMark(filter: 'about' | 'placed'): number {
  return filter === 'placed' ? OF_EVERYBODY : OF_NOTHING
}
