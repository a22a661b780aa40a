/** Numbers terms in the order of their first appearance. */
export interface TermTable {
  readonly size: number
  readonly bytes: number
  /** The number of the term with this hash, given as its two halves; -1 when it has none. */
  find: (high: number, low: number) => number
  /** The same, which numbers the term when it has none. */
  add: (high: number, low: number) => number
  /** What a snapshot keeps. */
  readonly arrays: TermArrays
}

/** By place: both halves of the hash, and one more than the number of the term; 0 is an empty place. */
export interface TermArrays {
  highs: Int32Array
  lows: Int32Array
  numbers: Int32Array
}

const FIRST_CAPACITY = 1 << 10

/** Open addressing with linear probing, at most half full: about 24 bytes a term. */
export function createTermTable(kept?: TermArrays & { size: number }): TermTable {
  let capacity = kept?.numbers.length ?? FIRST_CAPACITY
  let highs = kept?.highs ?? new Int32Array(capacity)
  let lows = kept?.lows ?? new Int32Array(capacity)
  let numbers = kept?.numbers ?? new Int32Array(capacity)
  let size = kept?.size ?? 0

  const placeOf = (high: number, low: number): number => {
    let place = mixed(high, low) & (capacity - 1)
    while (numbers[place] !== 0 && (highs[place] !== high || lows[place] !== low))
      place = (place + 1) & (capacity - 1)
    return place
  }
  const put = (high: number, low: number, number: number): void => {
    const place = placeOf(high, low)
    highs[place] = high
    lows[place] = low
    numbers[place] = number
  }
  const grow = (): void => {
    const before = { highs, lows, numbers }
    capacity *= 2
    highs = new Int32Array(capacity)
    lows = new Int32Array(capacity)
    numbers = new Int32Array(capacity)
    for (const [place, number] of before.numbers.entries()) {
      if (number !== 0) put(before.highs[place] ?? 0, before.lows[place] ?? 0, number)
    }
  }
  return {
    get size() {
      return size
    },
    get bytes() {
      return capacity * 12
    },
    get arrays() {
      return { highs, lows, numbers }
    },
    find: (high, low) => (numbers[placeOf(high, low)] ?? 0) - 1,
    add: (high, low) => {
      const known = numbers[placeOf(high, low)] ?? 0
      if (known !== 0) return known - 1
      if (2 * (size + 1) > capacity) grow()
      size += 1
      put(high, low, size)
      return size - 1
    },
  }
}

function mixed(high: number, low: number): number {
  return Math.imul(high ^ (low >>> 15), 2_654_435_761) ^ low
}
