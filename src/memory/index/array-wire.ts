/** Numbers of a PostgreSQL array of `bigint` or `smallint` in its binary form. */
export interface WireArray {
  readonly length: number
  /** The upper half of a 64-bit number; 0 for a shorter one. */
  high: (i: number) => number
  /** The lower half, signed; the whole of a 16-bit number. */
  low: (i: number) => number
}

/** Dimensions, whether nulls occur, element type, and of the one dimension its length and lower bound. */
const HEADER_BYTES = 20
const LENGTH_AT = 12

/**
 * Reads what `array_send` wrote: after the header each element with its size in bytes before it. Source:
 * PostgreSQL, src/backend/utils/adt/arrayfuncs.c. Numbers as text would cost several times the time.
 */
export function decodedArray(bytes: Buffer): WireArray {
  const length = bytes.length < HEADER_BYTES ? 0 : bytes.readInt32BE(LENGTH_AT)
  const size = length === 0 ? 0 : bytes.readInt32BE(HEADER_BYTES)
  const at = (i: number) => HEADER_BYTES + i * (4 + size) + 4
  return {
    length,
    high: (i) => (size === 8 ? bytes.readInt32BE(at(i)) : 0),
    low: (i) => (size === 8 ? bytes.readInt32BE(at(i) + 4) : bytes.readInt16BE(at(i))),
  }
}
