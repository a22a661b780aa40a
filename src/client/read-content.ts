import { createHash } from 'node:crypto'
import type { Artifact } from '#contract/artifacts.ts'
import { getArtifactContent } from '#contract/artifacts.ts'
import { isPassing, pause } from './again.ts'
import { parse, refusal, send, TransportError } from './client.ts'
import type { ClientOptions } from './client.ts'

const ATTEMPTS = 5

type Kept = Pick<Artifact, 'id'> & { content: NonNullable<Artifact['content']> }

/**
 * Streams the bytes of an artifact and compares them with its SHA-256 before the last of them. A connection
 * that breaks is made again, and goes on where it broke. Throws the server's refusal as `AppError`, and
 * `TransportError` also for bytes that are not those of the artifact.
 */
export async function* readContent(
  client: ClientOptions,
  { id, content }: Kept,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array> {
  const { sizeBytes, sha256 } = content
  const hash = createHash('sha256')
  let received = 0
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const chunk of open(client, { id, sha256, start: received, signal })) {
        hash.update(chunk)
        received += chunk.length
        attempt = 1
        if (received > sizeBytes) throw wrong(id)
        if (received === sizeBytes && hash.digest('hex') !== sha256) throw wrong(id)
        yield chunk
      }
      if (received === sizeBytes) return
      throw new TransportError('The content ended too early')
    } catch (error) {
      if (attempt === ATTEMPTS || !isPassing(error)) throw error
      await pause(attempt, error, signal)
    }
  }
}

async function* open(
  client: ClientOptions,
  from: { id: string; sha256: string; start: number; signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const { id, sha256, start, signal } = from
  const rest = { range: `bytes=${start}-`, 'if-range': `"sha256-${sha256}"` }
  const response = await send(client, getArtifactContent, {
    params: { id },
    ...(start > 0 && { headers: rest }),
    ...(signal && { signal }),
  })
  if (!response.ok) throw refusal(response, parse(await response.text()))
  if (start > 0 && response.status !== 206) throw wrong(id)
  try {
    for await (const chunk of response.body ?? []) yield chunk
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new TransportError(`Cannot read the answer of ${client.url}`, { cause })
  }
}

/** With a status that is no reason to try again. */
function wrong(id: string): TransportError {
  return new TransportError(`Cannot take the content of artifact ${id}: it is other bytes`, {
    status: 200,
  })
}
