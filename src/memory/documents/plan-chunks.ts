import { canonicalJson } from '#lib/json.ts'
import type { ChunkRow } from '../store/chunk.sql.ts'

export type NewChunk = Pick<
  ChunkRow,
  'chunkOrder' | 'docType' | 'title' | 'heading' | 'text' | 'sourcePath' | 'meta' | 'scopes'
>

export interface ChunkPlan {
  ended: ChunkRow[]
  added: NewChunk[]
  /** Open chunks afterwards. */
  left: number
}

/**
 * The least that has to be done to bring a document's open chunks to those wanted. Chunks that are not
 * wanted end when the new ones replace all, and stay when they only go on with the document.
 */
export function planChunks(
  open: readonly ChunkRow[],
  wanted: readonly NewChunk[],
  replacesAll: boolean,
): ChunkPlan {
  const byOrder = new Map(open.map((chunk) => [chunk.chunkOrder, chunk]))
  const orders = new Set(wanted.map(({ chunkOrder }) => chunkOrder))
  const added = wanted.filter((chunk) => {
    const before = byOrder.get(chunk.chunkOrder)
    return !before || fingerprint(before) !== fingerprint(chunk)
  })
  const changed = added.flatMap(({ chunkOrder }) => byOrder.get(chunkOrder) ?? [])
  const vanished = replacesAll ? open.filter(({ chunkOrder }) => !orders.has(chunkOrder)) : []
  const ended = [...changed, ...vanished]
  return { ended, added, left: open.length - ended.length + added.length }
}

function fingerprint(chunk: NewChunk): string {
  const { docType, title, heading, text, sourcePath, meta, scopes } = chunk
  return canonicalJson([docType, title, heading, text, sourcePath, meta, scopes.toSorted()])
}
