import { randomBytes } from 'node:crypto'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import { sha256 } from '#lib/id.ts'

/** What an upload announces of its bytes. */
export function announced(bytes: Uint8Array) {
  return { sizeBytes: bytes.length, sha256: sha256(bytes) }
}

/** The same as a query has it. */
export function announcedText(bytes: Uint8Array) {
  return { sizeBytes: String(bytes.length), sha256: sha256(bytes) }
}

/** Bytes that nobody has. */
export function someBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(size))
}

/** Uploads bytes in one request, as a stream. */
export async function sendBytes(
  client: ClientOptions,
  bytes: Uint8Array,
  place: Record<string, string> = {},
) {
  const query = { ...announcedText(bytes), ...place }
  return await call(client, uploads.sendArtifactContent, { query, bytes: streamOf(bytes) })
}

export async function beginUpload(client: ClientOptions, bytes: Uint8Array, more: object = {}) {
  return await call(client, uploads.beginArtifactUpload, { body: { ...announced(bytes), ...more } })
}

export async function putPart(
  client: ClientOptions,
  part: { id: string; number: number },
  bytes: Uint8Array,
) {
  const params = { id: part.id, number: String(part.number) }
  const query = announcedText(bytes)
  return await call(client, uploads.putUploadPart, { params, query, bytes: streamOf(bytes) })
}

export async function completeUpload(client: ClientOptions, id: string, fence: object = {}) {
  return await call(client, uploads.completeArtifactUpload, { params: { id }, body: fence })
}

const CHUNK_BYTES = 70_001

/** Bytes in chunks that fit no block. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunksOf(bytes))
}

export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.slice(at, at + CHUNK_BYTES)
}
