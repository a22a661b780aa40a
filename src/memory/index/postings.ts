/** A stretch of one term's postings: places `from` to `to` of two aligned arrays, slots ascending. */
export interface Segment {
  slots: Uint32Array
  /** Weighted frequencies in units of 1/`TF_UNIT`. */
  tfs: Uint16Array
  from: number
  to: number
}

/**
 * Which slots hold each term. The bulk lies in three flat arrays; what came later lies beside it by term
 * until `compact` merges both. Slots are appended in ascending order, so every list is sorted.
 */
export interface Postings {
  readonly size: number
  readonly bytes: number
  append: (term: number, slot: number, tf: number) => void
  /** One or two stretches, in ascending order of slots. */
  segments: (term: number) => Segment[]
  /** Whether so much came since the last merge that it is worth one. */
  readonly isFragmented: boolean
  /** Merges; yields now and then so that the caller can let others have their turn. Appending has to wait. */
  compact: () => Generator<undefined>
}

interface Bulk {
  /** Of each term where its list begins; one more at the end. */
  starts: Uint32Array
  slots: Uint32Array
  tfs: Uint16Array
}

interface Later {
  slots: Uint32Array
  tfs: Uint16Array
  length: number
}

/** A merge is worth it beyond this many postings and this share of the bulk. */
const MIN_LATER = 50_000
const LATER_SHARE = 0.125
const TERMS_A_STEP = 4_096

export function createPostings(): Postings {
  let bulk: Bulk = bulkOf(0, 0)
  let later = new Map<number, Later>()
  let laterSize = 0
  let lastTerm = -1

  const segments = (term: number): Segment[] => {
    const { starts, slots, tfs } = bulk
    const from = starts[term] ?? 0
    const to = starts[term + 1] ?? from
    const rest = later.get(term)
    const parts = from === to ? [] : [{ slots, tfs, from, to }]
    if (rest) parts.push({ slots: rest.slots, tfs: rest.tfs, from: 0, to: rest.length })
    return parts
  }
  return {
    get size() {
      return bulk.slots.length + laterSize
    },
    get bytes() {
      const { starts, slots } = bulk
      return starts.length * 4 + slots.length * 6 + laterSize * 12 + later.size * 200
    },
    append: (term, slot, tf) => {
      const list = later.get(term) ?? emptyList()
      if (list.length === 0) later.set(term, list)
      push(list, slot, tf)
      laterSize += 1
      lastTerm = Math.max(lastTerm, term)
    },
    segments,
    get isFragmented() {
      return laterSize > Math.max(MIN_LATER, LATER_SHARE * bulk.slots.length)
    },
    *compact() {
      const merged = bulkOf(lastTerm + 1, bulk.slots.length + laterSize)
      yield* merging(merged, segments)
      bulk = merged
      later = new Map()
      laterSize = 0
    },
  }
}

function bulkOf(terms: number, size: number): Bulk {
  return {
    starts: new Uint32Array(terms + 1),
    slots: new Uint32Array(size),
    tfs: new Uint16Array(size),
  }
}

/** Fills `merged` with all segments, term by term. */
function* merging(
  { starts, slots, tfs }: Bulk,
  segments: (term: number) => readonly Segment[],
): Generator<undefined> {
  let end = 0
  for (let term = 0; term < starts.length - 1; term++) {
    starts[term] = end
    for (const part of segments(term)) {
      slots.set(part.slots.subarray(part.from, part.to), end)
      tfs.set(part.tfs.subarray(part.from, part.to), end)
      end += part.to - part.from
    }
    if (term % TERMS_A_STEP === 0) yield
  }
  starts[starts.length - 1] = end
}

function emptyList(): Later {
  return { slots: new Uint32Array(2), tfs: new Uint16Array(2), length: 0 }
}

function push(list: Later, slot: number, tf: number): void {
  if (list.length === list.slots.length) widen(list)
  list.slots[list.length] = slot
  list.tfs[list.length] = tf
  list.length += 1
}

function widen(list: Later): void {
  const { slots, tfs } = list
  list.slots = new Uint32Array(slots.length * 2)
  list.slots.set(slots)
  list.tfs = new Uint16Array(tfs.length * 2)
  list.tfs.set(tfs)
}

/** How often a term stands in a slot, 0 when it does not. */
export function frequencyIn(segments: readonly Segment[], slot: number): number {
  for (const { slots, tfs, from, to } of segments) {
    let low = from
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((slots[middle] ?? 0) < slot) low = middle + 1
      else high = middle
    }
    if (low < to && slots[low] === slot) return tfs[low] ?? 0
  }
  return 0
}
