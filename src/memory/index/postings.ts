/** A stretch of one term's postings: places `from` to `to` of two aligned arrays, slots ascending. */
export interface Segment {
  slots: Uint32Array
  /** Weighted frequencies in units of 1/`TF_UNIT`. */
  tfs: Uint16Array
  from: number
  to: number
}

/**
 * Which slots hold each term: 6 bytes a posting. The bulk lies in three flat arrays; what came later is
 * appended to a log in which the postings of a term are chained, until `compact` merges both. Slots are
 * appended in ascending order, so every list is sorted.
 */
export interface Postings {
  readonly size: number
  readonly bytes: number
  append: (term: number, slot: number, tf: number) => void
  /** How many postings a term has. */
  count: (term: number) => number
  /** One or two stretches, in ascending order of slots. */
  segments: (term: number) => Segment[]
  /** Whether so much came since the last merge that it is worth one. */
  readonly isFragmented: boolean
  /** Merges; yields now and then so that the caller can let others have their turn. Appending has to wait. */
  compact: () => Generator<undefined>
  /** The flat arrays, once everything is merged: what a snapshot keeps. */
  readonly bulk: Bulk
}

export interface Bulk {
  /** Of each term where its list begins; one more at the end. */
  starts: Uint32Array
  slots: Uint32Array
  tfs: Uint16Array
}

/** Postings in the order of their arrival. */
interface Later {
  terms: Uint32Array
  slots: Uint32Array
  tfs: Uint16Array
  /** One more than the place of the posting of the same term before; 0 for the first. */
  before: Uint32Array
  length: number
  /** By term: one more than the place of its last posting, and how many it has. */
  heads: Uint32Array
  counts: Uint32Array
}

/** A merge is worth it beyond this many postings and this share of the bulk. */
const MIN_LATER = 50_000
const LATER_SHARE = 0.2
const TERMS_A_STEP = 4_096
const POSTINGS_A_STEP = 65_536
const FIRST_CAPACITY = 256
const BYTES_A_LATER_POSTING = 14

export function createPostings(first: Bulk = bulkOf(0, 0)): Postings {
  let bulk = first
  let later = emptyLater()
  let terms = Math.max(0, first.starts.length - 1)
  /** Lists of the log that were read since their last change. */
  let lists = new Map<number, Segment>()

  const laterSegment = (term: number): Segment | undefined => {
    const count = later.counts[term] ?? 0
    if (count === 0) return undefined
    const known = lists.get(term)
    if (known) return known
    const list = gathered(later, term, count)
    lists.set(term, list)
    return list
  }
  return {
    get size() {
      return bulk.slots.length + later.length
    },
    get bytes() {
      const { starts, slots, tfs } = bulk
      const merged = starts.byteLength + slots.byteLength + tfs.byteLength
      const { heads, counts } = later
      const log = later.slots.length * BYTES_A_LATER_POSTING + heads.byteLength + counts.byteLength
      return merged + log + lists.size * BYTES_A_LIST
    },
    get bulk() {
      return bulk
    },
    append: (term, slot, tf) => {
      if (lists.size > 0) lists.delete(term)
      push(later, term, { slot, tf })
      if (term >= terms) terms = term + 1
    },
    count: (term) => {
      const from = bulk.starts[term] ?? 0
      return (bulk.starts[term + 1] ?? from) - from + (later.counts[term] ?? 0)
    },
    segments: (term) => {
      const { starts, slots, tfs } = bulk
      const from = starts[term] ?? 0
      const to = starts[term + 1] ?? from
      const rest = laterSegment(term)
      if (from === to) return rest ? [rest] : []
      const merged = { slots, tfs, from, to }
      return rest ? [merged, rest] : [merged]
    },
    get isFragmented() {
      return later.length > Math.max(MIN_LATER, LATER_SHARE * bulk.slots.length)
    },
    *compact() {
      const merged = bulkOf(terms, bulk.slots.length + later.length)
      yield* merging(merged, bulk, later)
      bulk = merged
      later = emptyLater()
      lists = new Map()
    },
  }
}

/** A Map's entry with the arrays of a short list. */
const BYTES_A_LIST = 400

function bulkOf(terms: number, size: number): Bulk {
  return {
    starts: new Uint32Array(terms + 1),
    slots: new Uint32Array(size),
    tfs: new Uint16Array(size),
  }
}

/** Fills `merged`: first where each list begins, then the old lists, then the log in its order. */
function* merging(merged: Bulk, bulk: Bulk, later: Later): Generator<undefined> {
  const terms = merged.starts.length - 1
  const ends = new Uint32Array(terms)
  let end = 0
  for (let term = 0; term < terms; term++) {
    merged.starts[term] = end
    const from = bulk.starts[term] ?? 0
    const to = bulk.starts[term + 1] ?? from
    copy(merged, end, bulk, { from, to })
    ends[term] = end + to - from
    end += to - from + (later.counts[term] ?? 0)
    if (term % TERMS_A_STEP === 0) yield
  }
  merged.starts[terms] = end
  for (let i = 0; i < later.length; i++) {
    const term = later.terms[i] ?? 0
    const at = ends[term] ?? 0
    merged.slots[at] = later.slots[i] ?? 0
    merged.tfs[at] = later.tfs[i] ?? 0
    ends[term] = at + 1
    if (i % POSTINGS_A_STEP === 0) yield
  }
}

function copy(to: Bulk, at: number, from: Bulk, part: { from: number; to: number }): void {
  // A call for each of many short lists would cost more than what it copies.
  if (part.to - part.from < 32) {
    for (let i = part.from; i < part.to; i++) {
      to.slots[at + i - part.from] = from.slots[i] ?? 0
      to.tfs[at + i - part.from] = from.tfs[i] ?? 0
    }
    return
  }
  to.slots.set(from.slots.subarray(part.from, part.to), at)
  to.tfs.set(from.tfs.subarray(part.from, part.to), at)
}

function emptyLater(): Later {
  return {
    terms: new Uint32Array(FIRST_CAPACITY),
    slots: new Uint32Array(FIRST_CAPACITY),
    tfs: new Uint16Array(FIRST_CAPACITY),
    before: new Uint32Array(FIRST_CAPACITY),
    length: 0,
    heads: new Uint32Array(FIRST_CAPACITY),
    counts: new Uint32Array(FIRST_CAPACITY),
  }
}

function push(later: Later, term: number, { slot, tf }: { slot: number; tf: number }): void {
  const place = later.length
  if (place === later.slots.length) widen(later)
  if (term >= later.heads.length) {
    const size = Math.max(term + 1, later.heads.length * 2)
    later.heads = widened(later.heads, new Uint32Array(size))
    later.counts = widened(later.counts, new Uint32Array(size))
  }
  later.terms[place] = term
  later.slots[place] = slot
  later.tfs[place] = tf
  later.before[place] = later.heads[term] ?? 0
  later.length = place + 1
  later.heads[term] = place + 1
  later.counts[term] = (later.counts[term] ?? 0) + 1
}

function widen(later: Later): void {
  const size = Math.ceil(later.slots.length * 1.5)
  later.terms = widened(later.terms, new Uint32Array(size))
  later.slots = widened(later.slots, new Uint32Array(size))
  later.tfs = widened(later.tfs, new Uint16Array(size))
  later.before = widened(later.before, new Uint32Array(size))
}

function widened<T extends Uint32Array | Uint16Array>(old: T, wider: T): T {
  wider.set(old)
  return wider
}

/** The postings of one term of the log, walked from the last to the first. */
function gathered(later: Later, term: number, count: number): Segment {
  const slots = new Uint32Array(count)
  const tfs = new Uint16Array(count)
  let place = later.heads[term] ?? 0
  for (let i = count - 1; i >= 0; i--) {
    slots[i] = later.slots[place - 1] ?? 0
    tfs[i] = later.tfs[place - 1] ?? 0
    place = later.before[place - 1] ?? 0
  }
  return { slots, tfs, from: 0, to: count }
}

/**
 * How often a term stands in each of some slots, which ascend, 0 where it does not: a search that goes on
 * from the place before in growing steps.
 */
export function frequenciesIn(
  segments: readonly Segment[],
  sorted: ArrayLike<number>,
): Uint16Array {
  const found = new Uint16Array(sorted.length)
  for (const { slots, tfs, from, to } of segments) {
    let at = from
    for (let i = 0; i < sorted.length && at < to; i++) {
      const slot = sorted[i] ?? 0
      at = firstNotBelow(slots, slot, { from: at, to })
      if (at < to && slots[at] === slot) found[i] = tfs[at] ?? 0
    }
  }
  return found
}

/** The first place from `from` on whose slot is not below the one given; `to` when there is none. */
function firstNotBelow(
  slots: Uint32Array,
  slot: number,
  { from, to }: { from: number; to: number },
): number {
  let step = 1
  let low = from
  let high = from
  while (high < to && (slots[high] ?? 0) < slot) {
    low = high + 1
    high += step
    step *= 2
  }
  high = Math.min(high, to)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((slots[middle] ?? 0) < slot) low = middle + 1
    else high = middle
  }
  return low
}
