import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'

/** Bytes that are checked together when content is read. */
export const BLOCK_BYTES = 1 << 20
export const DIGEST_BYTES = 32

export interface Digests {
  update: (chunk: Uint8Array) => void
  /** SHA-256 of everything as lower-case hex, and of each block in turn, 32 bytes apiece. */
  finish: () => { sha256: string; blocks: Buffer }
}

/** Digests bytes that come in chunks of any size: as a whole, and by blocks of `BLOCK_BYTES`. */
export function createDigests(): Digests {
  const whole = createHash('sha256')
  const blocks: Buffer[] = []
  let block: Hash = createHash('sha256')
  let filled = 0
  const close = () => {
    blocks.push(block.digest())
    block = createHash('sha256')
    filled = 0
  }
  return {
    update(chunk) {
      whole.update(chunk)
      for (let at = 0; at < chunk.length;) {
        const piece = chunk.subarray(at, at + BLOCK_BYTES - filled)
        block.update(piece)
        at += piece.length
        filled += piece.length
        if (filled === BLOCK_BYTES) close()
      }
    },
    finish() {
      if (filled > 0) close()
      return { sha256: whole.digest('hex'), blocks: Buffer.concat(blocks) }
    },
  }
}

export function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
