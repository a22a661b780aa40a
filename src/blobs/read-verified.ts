import type { ByteRange } from '#lib/byte-range.ts'
import { AppError } from '#lib/errors.ts'
import { BLOCK_BYTES, DIGEST_BYTES, digestOf } from './digests.ts'
import type { BlobStore } from './store.ts'

/** What is kept under a key: its size, and the SHA-256 of each block in turn. */
export interface StoredBlob {
  objectKey: string
  sizeBytes: number
  blockDigests: Uint8Array
}

/**
 * Reads a part of what is kept, block by block; a block that is not what was once kept is never given out.
 * Holds one block. Throws `content_damaged`, `content_unavailable`.
 */
export async function* readVerified(
  store: BlobStore,
  blob: StoredBlob,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  if (start >= end) return
  const first = Math.floor(start / BLOCK_BYTES)
  const last = Math.ceil(end / BLOCK_BYTES)
  const range = {
    start: first * BLOCK_BYTES,
    end: Math.min(last * BLOCK_BYTES, blob.sizeBytes),
  }
  let index = first
  for await (const block of inBlocks(store.get(blob.objectKey, range))) {
    const digest = blob.blockDigests.subarray(index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES)
    if (!digestOf(block).equals(digest)) throw damaged(blob)
    const offset = index * BLOCK_BYTES
    yield block.subarray(Math.max(start - offset, 0), end - offset)
    index += 1
  }
  if (index !== last) throw damaged(blob)
}

/** Reads all of an object whose digest is checked where it goes. Throws as {@link readVerified} does. */
export async function* readWhole(
  store: BlobStore,
  object: { objectKey: string; sizeBytes: number },
): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const chunk of store.get(object.objectKey, { start: 0, end: object.sizeBytes })) {
    read += chunk.length
    yield chunk
  }
  if (read !== object.sizeBytes) throw damaged(object)
}

async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let filled = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES - filled)
      parts.push(piece)
      at += piece.length
      filled += piece.length
      if (filled < BLOCK_BYTES) continue
      yield Buffer.concat(parts)
      parts = []
      filled = 0
    }
  }
  if (filled > 0) yield Buffer.concat(parts)
}

function damaged({ objectKey }: { objectKey: string }): AppError {
  return new AppError('content_damaged', 'Cannot give out the content: it is damaged or lost', {
    cause: new Error(`Not what was kept, or not there: ${objectKey}`),
  })
}
