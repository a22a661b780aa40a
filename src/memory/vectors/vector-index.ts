import type { Sql } from '#db/sql.ts'
import { selectVectors } from './vector.sql.ts'

/** The vectors of one namespace by item, in one piece of memory. */
export interface VectorIndex {
  readonly dimension: number
  readonly bytes: number
  /** The row of an item, -1 when it has no vector. */
  rowOf: (item: number) => number
  /** Cosine of a row and a query that was packed alike, from -1 to 1. */
  similarity: (row: number, query: Float32Array) => number
}

/** The vectors that this process keeps, all of one model. */
export interface VectorIndexes {
  /** The vectors of a namespace, as new as the last batch that was written. */
  upToDate: (sql: Sql, namespaceId: string) => Promise<VectorIndex>
}

const PAGE = 2_000

export function createVectorIndexes(model: string, budgetBytes: number): VectorIndexes {
  const kept = new Map<string, Kept>()
  const makeRoom = (current: string): void => {
    const others = [...kept].filter(([id]) => id !== current)
    let bytes = Array.from(kept.values()).reduce((sum, { rows }) => sum + rows.bytes, 0)
    for (const [id, { rows }] of others) {
      if (bytes <= budgetBytes) return
      bytes -= rows.bytes
      kept.delete(id)
    }
  }
  return {
    upToDate: async (sql, namespaceId) => {
      const entry = kept.get(namespaceId) ?? {
        rows: createRows(),
        seq: 0,
        item: 0,
        busy: Promise.resolve(),
      }
      // The one used last stands last.
      kept.delete(namespaceId)
      kept.set(namespaceId, entry)
      const turn = entry.busy.then(() => readNew(sql, { namespaceId, model }, entry))
      entry.busy = turn.catch(() => {})
      await turn
      makeRoom(namespaceId)
      return entry.rows
    },
  }
}

interface Kept {
  rows: Rows
  /** The last vector read. */
  seq: number
  item: number
  busy: Promise<void>
}

async function readNew(
  sql: Sql,
  of: { namespaceId: string; model: string },
  entry: Kept,
): Promise<void> {
  for (;;) {
    const page = await selectVectors(sql, { ...of, seq: entry.seq, item: entry.item }, PAGE)
    for (const { item, scale, vector } of page) entry.rows.put(item, scale, vector)
    const last = page.at(-1)
    if (last) Object.assign(entry, { seq: last.seq, item: last.item })
    if (page.length < PAGE) return
  }
}

type Rows = VectorIndex & { put: (item: number, scale: number, vector: Uint8Array) => void }

const FIRST_ROWS = 256

function createRows(): Rows {
  let dimension = 0
  let count = 0
  /** One more than the row of each item; 0 is none. */
  let places = new Uint32Array(FIRST_ROWS)
  let scales = new Float32Array(FIRST_ROWS)
  let matrix = new Int8Array(0)

  const rowFor = (item: number): number => {
    const known = (places[item] ?? 0) - 1
    if (known !== -1) return known
    if (item >= places.length) places = wider(places, Uint32Array, item + 1)
    if (count >= scales.length) scales = wider(scales, Float32Array, count + 1)
    if ((count + 1) * dimension > matrix.length)
      matrix = wider(matrix, Int8Array, (count + FIRST_ROWS) * dimension)
    count += 1
    places[item] = count
    return count - 1
  }
  return {
    get dimension() {
      return dimension
    },
    get bytes() {
      return places.byteLength + scales.byteLength + matrix.byteLength
    },
    rowOf: (item) => (places[item] ?? 0) - 1,
    similarity: (row, query) => {
      const start = row * dimension
      let sum = 0
      for (let i = 0; i < dimension; i++) sum += (matrix[start + i] ?? 0) * (query[i] ?? 0)
      return sum * (scales[row] ?? 0)
    },
    put: (item, scale, vector) => {
      if (dimension === 0) dimension = vector.length
      if (vector.length !== dimension) return
      const row = rowFor(item)
      scales[row] = scale
      matrix.set(new Int8Array(vector.buffer, vector.byteOffset, dimension), row * dimension)
    },
  }
}

/** The same numbers with room for at least `length`. */
function wider<T extends Uint32Array | Float32Array | Int8Array>(
  from: T,
  Type: new (length: number) => T,
  length: number,
): T {
  const larger = new Type(Math.max(length, Math.ceil(from.length * 1.5)))
  larger.set(from)
  return larger
}
