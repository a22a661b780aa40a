import type { ByteRange } from '#lib/byte-range.ts'
import { AppError } from '#lib/errors.ts'

/** Bytes to be kept; `chunks` fails before its last one when they are not what is said here. */
export interface Source {
  sizeBytes: number
  /** Lower-case hex. */
  sha256: string
  chunks: AsyncIterable<Uint8Array>
}

/**
 * Keeps bytes under keys, beside the database. A key is written once and never again (see `newObjectKey`),
 * so what is read under it never changes. Everything fails with `content_unavailable` when the store does
 * not do what it should.
 */
export interface BlobStore {
  /** Keeps all of the bytes, or nothing; they survive a crash from now on. Throws what `chunks` throws. */
  put: (key: string, source: Source, signal: AbortSignal) => Promise<void>
  /** Gives a part, in chunks of any size; fewer bytes when the store has fewer. */
  get: (key: string, range: ByteRange) => AsyncIterable<Uint8Array>
  /** Nothing is kept under the key from now on, also nothing that an interrupted `put` left. */
  remove: (key: string) => Promise<void>
  /** Proves that bytes can be kept now, by keeping some. */
  check: () => Promise<void>
}

/** The same chunks; `failure` is what they failed with, when they did. */
export function noted(chunks: AsyncIterable<Uint8Array>) {
  let failure: Error | undefined
  async function* note(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks
    } catch (error) {
      failure = error instanceof Error ? error : new Error('The bytes ended', { cause: error })
      throw failure
    }
  }
  return { chunks: note(), failure: () => failure }
}

/** A failure of the store itself: the caller may try again. */
export function unavailable(cause: unknown): AppError {
  return new AppError(
    'content_unavailable',
    'Cannot reach the content: its store does not answer',
    {
      cause,
      retryAfterSeconds: 5,
    },
  )
}
