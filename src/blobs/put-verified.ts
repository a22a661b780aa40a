import { AppError } from '#lib/errors.ts'
import { createDigests } from './digests.ts'
import type { BlobStore, Source } from './store.ts'

/** Nothing is written for longer than this; what is not done by then is given up. */
export const WRITE_LIMIT_SECONDS = 3600

/**
 * Keeps bytes when they are what the caller said, and answers the digests of their blocks (see
 * `readVerified`). Never holds more than a chunk of them. Throws `content_mismatch` with what came instead,
 * `content_unavailable`, and whatever `chunks` throws; then nothing is kept for good.
 */
export async function putVerified(
  store: BlobStore,
  key: string,
  source: Source,
  signal?: AbortSignal,
): Promise<Buffer> {
  const checked = checkedSource(source)
  const limit = AbortSignal.timeout(WRITE_LIMIT_SECONDS * 1000)
  await store.put(key, checked, signal ? AbortSignal.any([signal, limit]) : limit)
  return checked.blocks()
}

function checkedSource({ sizeBytes, sha256, chunks }: Source) {
  let blocks: Buffer | undefined
  async function* check(): AsyncGenerator<Uint8Array> {
    const digests = createDigests()
    const finish = () => {
      const found = digests.finish()
      if (found.sha256 !== sha256) throw mismatch('sha256', { sha256: found.sha256 })
      blocks = found.blocks
    }
    let received = 0
    for await (const chunk of chunks) {
      received += chunk.length
      if (received > sizeBytes) throw mismatch('sizeBytes', { moreThan: sizeBytes })
      digests.update(chunk)
      // Before the last byte leaves, so that no store ever has all of something wrong.
      if (received === sizeBytes && chunk.length > 0) finish()
      if (chunk.length > 0) yield chunk
    }
    if (received < sizeBytes) throw mismatch('sizeBytes', { sizeBytes: received })
    if (sizeBytes === 0) finish()
  }
  return { sizeBytes, sha256, chunks: check(), blocks: () => blocks ?? Buffer.alloc(0) }
}

function mismatch(field: 'sha256' | 'sizeBytes', received: object): AppError {
  const message = `Cannot keep the content: it is not of the ${field} that was announced`
  return new AppError('content_mismatch', message, { details: { field, received } })
}
