/** What the index keeps of each item, by slot. Moments are microseconds since 1970; open ends are infinite. */
export interface Columns {
  item: Uint32Array
  kind: Uint8Array
  shape: Uint8Array
  flags: Uint8Array
  length: Float32Array
  startsAt: Float64Array
  validTo: Float64Array
  ingestedAt: Float64Array
  closedAt: Float64Array
  retiredAt: Float64Array
  /** Number of the audience, of the session or document, of the author; -1 is none. */
  audience: Int32Array
  group: Int32Array
  author: Int32Array
  /** Place of a chunk in its document. */
  place: Int32Array
  /** Tells a changed text from the same one. */
  termSum: Int32Array
}

/** No longer in the store: no reader is told of it. */
export const GONE = 1
export const REPLACED = 2
export const UNSCOPED = 4

const BYTES_A_SLOT = 4 + 3 + 4 + 5 * 8 + 5 * 4

export function createColumns(capacity: number): Columns {
  return {
    item: new Uint32Array(capacity),
    kind: new Uint8Array(capacity),
    shape: new Uint8Array(capacity),
    flags: new Uint8Array(capacity),
    length: new Float32Array(capacity),
    startsAt: new Float64Array(capacity),
    validTo: new Float64Array(capacity),
    ingestedAt: new Float64Array(capacity),
    closedAt: new Float64Array(capacity),
    retiredAt: new Float64Array(capacity),
    audience: new Int32Array(capacity),
    group: new Int32Array(capacity),
    author: new Int32Array(capacity),
    place: new Int32Array(capacity),
    termSum: new Int32Array(capacity),
  }
}

/** The same columns with room for at least `slots`. */
export function withRoom(columns: Columns, slots: number): Columns {
  const capacity = columns.item.length
  if (slots <= capacity) return columns
  const wider = createColumns(Math.max(slots, Math.ceil(capacity * 1.5)))
  wider.item.set(columns.item)
  wider.kind.set(columns.kind)
  wider.shape.set(columns.shape)
  wider.flags.set(columns.flags)
  wider.length.set(columns.length)
  wider.startsAt.set(columns.startsAt)
  wider.validTo.set(columns.validTo)
  wider.ingestedAt.set(columns.ingestedAt)
  wider.closedAt.set(columns.closedAt)
  wider.retiredAt.set(columns.retiredAt)
  wider.audience.set(columns.audience)
  wider.group.set(columns.group)
  wider.author.set(columns.author)
  wider.place.set(columns.place)
  wider.termSum.set(columns.termSum)
  return wider
}

export function bytesOf(columns: Columns): number {
  return columns.item.length * BYTES_A_SLOT
}
