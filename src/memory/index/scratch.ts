/**
 * Room that the searches of one index share, so that none of them makes arrays as long as the index. A
 * search runs in one piece and leaves everything as it found it.
 */
export interface Scratch {
  /** By slot, all 0 between searches. */
  scores: (slots: number) => Float32Array
  /** Slots of whom a score was noted, in no order; contents are not kept. */
  touched: (size: number) => Uint32Array
  /** By slot, all 0 between searches: one more than the row of a slot in some list. */
  rows: (slots: number) => Int32Array
  /** By group, all 0 between searches: the same for groups. */
  groupRows: (groups: number) => Int32Array
  /** By group: the last number that `stamp` gave when the group was met. */
  groupStamps: (groups: number) => Int32Array
  /** A number greater than all before. */
  stamp: () => number
  readonly bytes: number
}

export function createScratch(): Scratch {
  let scores = new Float32Array(0)
  let touched = new Uint32Array(0)
  let rows = new Int32Array(0)
  let groupRows = new Int32Array(0)
  let groupStamps = new Int32Array(0)
  let last = 0
  return {
    scores: (slots) =>
      scores.length >= slots ? scores : (scores = new Float32Array(roomy(slots))),
    touched: (size) =>
      touched.length >= size ? touched : (touched = new Uint32Array(roomy(size))),
    rows: (slots) => (rows.length >= slots ? rows : (rows = new Int32Array(roomy(slots)))),
    groupRows: (groups) =>
      groupRows.length >= groups ? groupRows : (groupRows = new Int32Array(roomy(groups))),
    groupStamps: (groups) =>
      groupStamps.length >= groups ? groupStamps : (groupStamps = new Int32Array(roomy(groups))),
    stamp: () => {
      if (last === MOST_STAMPS) {
        groupStamps.fill(0)
        last = 0
      }
      return (last += 1)
    },
    get bytes() {
      const all = [scores, touched, rows, groupRows, groupStamps]
      return all.reduce((sum, { byteLength }) => sum + byteLength, 0)
    },
  }
}

const MOST_STAMPS = 2 ** 31 - 1

function roomy(size: number): number {
  return Math.ceil(size * 1.25)
}
