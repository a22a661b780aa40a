/** A part of some bytes: from `start`, included, to `end`, excluded. */
export interface ByteRange {
  start: number
  end: number
}
