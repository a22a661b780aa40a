import { createHash } from 'node:crypto'
import * as uploads from '#contract/artifact-uploads.ts'
import type { ArtifactUpload, UploadPart } from '#contract/artifact-uploads.ts'
import { again } from './again.ts'
import { call } from './client.ts'
import type { ClientOptions } from './client.ts'

/** Bytes that can be read where they lie, a part at a time and as often as needed. */
export interface ContentSource {
  sizeBytes: number
  /** Lower-case hex. */
  sha256: string
  /** From `start`, included, to `end`, excluded. */
  read: (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>>
}

export interface UploadOptions {
  /** Where the content will be published, and under which claim. */
  place?: {
    taskId?: string
    runId?: string
    workspaceId?: string
    claimId?: string
    fencingToken?: number
  }
  mediaType?: string
  /** An upload of the same content that was begun before: only what it lacks is sent. */
  uploadId?: string
  /** Told the id of an upload in parts as soon as there is one, to go on with it another time. */
  began?: (uploadId: string) => void
  /** Told how many bytes have arrived. */
  progress?: (bytes: number) => void
  signal?: AbortSignal
}

/** Smaller content goes in one request, larger in parts of this size. */
export const PART_BYTES = 8 << 20
const PARTS_AT_ONCE = 3

/**
 * Uploads content and answers the completed upload, whose `contentRef` an artifact can name. Holds three parts
 * of 8 MiB at most. What fails in passing is tried again; throws what {@link call} throws.
 */
export async function uploadContent(
  client: ClientOptions,
  source: ContentSource,
  options: UploadOptions = {},
): Promise<ArtifactUpload> {
  const { uploadId, progress, signal } = options
  if (uploadId === undefined && source.sizeBytes <= PART_BYTES) {
    const bytes = await source.read(0, source.sizeBytes)
    const query = { ...announcement(source, options), ...asText(options.place) }
    const input = { query, bytes, ...(signal && { signal }) }
    const upload = await again(() => call(client, uploads.sendArtifactContent, input), signal)
    progress?.(source.sizeBytes)
    return upload
  }
  const upload = await openUpload(client, source, options)
  await sendParts(client, source, { ...options, upload })
  const { taskId: _, workspaceId: __, ...body } = options.place ?? {}
  const input = { params: { id: upload.id }, body, ...(signal && { signal }) }
  return await again(() => call(client, uploads.completeArtifactUpload, input), signal)
}

interface OpenUpload {
  id: string
  parts: readonly UploadPart[]
}

async function openUpload(
  client: ClientOptions,
  source: ContentSource,
  { uploadId, place, mediaType, began, signal }: UploadOptions,
): Promise<OpenUpload> {
  const signalled = signal && { signal }
  if (uploadId !== undefined) {
    return await call(client, uploads.getArtifactUpload, { params: { id: uploadId }, ...signalled })
  }
  const { sizeBytes, sha256 } = source
  const body = { sizeBytes, sha256, ...(mediaType !== undefined && { mediaType }), ...place }
  const { id } = await call(client, uploads.beginArtifactUpload, { body, ...signalled })
  began?.(id)
  return { id, parts: [] }
}

async function sendParts(
  client: ClientOptions,
  source: ContentSource,
  { upload, progress, signal }: UploadOptions & { upload: OpenUpload },
): Promise<void> {
  const count = Math.ceil(source.sizeBytes / PART_BYTES)
  const numbers = Array.from({ length: count }, (_, index) => index + 1).values()
  let arrived = 0
  const sendNext = async () => {
    try {
      for (const number of numbers) {
        const bytes = await sendPart(client, source, { upload, number, signal })
        arrived += bytes
        progress?.(arrived)
      }
    } catch (error) {
      // The others end with the part they are at.
      for (const _ of numbers);
      throw error
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: PARTS_AT_ONCE }, sendNext))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}

/** Sends a part unless the upload has it. Answers its size. */
async function sendPart(
  client: ClientOptions,
  source: ContentSource,
  {
    upload,
    number,
    signal,
  }: { upload: OpenUpload; number: number; signal?: AbortSignal | undefined },
): Promise<number> {
  const start = (number - 1) * PART_BYTES
  const bytes = await source.read(start, Math.min(start + PART_BYTES, source.sizeBytes))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const known = upload.parts.find((part) => part.number === number)
  if (known?.sha256 === sha256) return bytes.length
  const params = { id: upload.id, number: String(number) }
  const query = { sizeBytes: String(bytes.length), sha256 }
  const input = { params, query, bytes, ...(signal && { signal }) }
  await again(() => call(client, uploads.putUploadPart, input), signal)
  return bytes.length
}

function announcement({ sizeBytes, sha256 }: ContentSource, { mediaType }: UploadOptions) {
  return { sizeBytes: String(sizeBytes), sha256, ...(mediaType !== undefined && { mediaType }) }
}

function asText(place: UploadOptions['place'] = {}) {
  const { fencingToken, ...others } = place
  return { ...others, ...(fencingToken !== undefined && { fencingToken: String(fencingToken) }) }
}
