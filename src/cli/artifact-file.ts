import { createHash, randomUUID } from 'node:crypto'
import { constants, copyFile, link, open, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readContent } from '#client/read-content.ts'
import { uploadContent } from '#client/upload-content.ts'
import type { ContentSource, UploadOptions } from '#client/upload-content.ts'
import type { Artifact } from '#contract/artifacts.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import type { Io } from './io.ts'
import { createProgress } from './progress.ts'

/** A file up to this size is sent inside the request that publishes it. */
const INLINE_BYTES = 64 * 1024
const HASH_BYTES = 1 << 20

/** What a new artifact says of a file: its bytes, or what they were uploaded as. */
type FileContent = { content: string; encoding: 'utf8' | 'base64' } | { contentRef: string }

/**
 * Brings a file to the server, with a bar when that takes long. An upload that fails half-way can be gone on
 * with: the person is told its id. Throws `CliError` when the file cannot be read.
 */
export async function sendFile(
  cli: Cli,
  path: string,
  options: Pick<UploadOptions, 'place' | 'mediaType' | 'uploadId'>,
): Promise<FileContent> {
  const { io, screen } = cli
  const name = resolve(io.cwd, path)
  await using file = await open(name, 'r').catch((cause: unknown) => {
    throw new CliError(`Cannot read ${name}: ${reason(cause)}`, { cause })
  })
  const source = await sourceOf(file, name)
  if (source.sizeBytes <= INLINE_BYTES && options.uploadId === undefined) {
    return inline(Buffer.from(await source.read(0, source.sizeBytes)))
  }
  const progress = createProgress(io)
  let begun = options.uploadId
  try {
    const { contentRef } = await uploadContent(await cli.streamClient(), source, {
      ...options,
      began: (id) => (begun = id),
      progress: (bytes) => progress.update('Uploading', bytes, source.sizeBytes),
      signal: io.signal,
    })
    return { contentRef: contentRef ?? '' }
  } catch (error) {
    progress.stop()
    if (begun !== undefined) screen.note(`To go on with this upload, add: --resume ${begun}`)
    throw error
  } finally {
    progress.stop()
  }
}

async function sourceOf(file: FileHandle, name: string): Promise<ContentSource> {
  const stat = await file.stat()
  if (!stat.isFile()) throw new CliError(`Cannot read ${name}: it is no file`)
  const read = async (start: number, end: number) => {
    const bytes = Buffer.alloc(end - start)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    if (bytesRead === bytes.length) return bytes
    throw new CliError(`Cannot read ${name}: it is being changed`)
  }
  const hash = createHash('sha256')
  for (let at = 0; at < stat.size; at += HASH_BYTES) {
    hash.update(await read(at, Math.min(at + HASH_BYTES, stat.size)))
  }
  return { sizeBytes: stat.size, sha256: hash.digest('hex'), read }
}

/** Text as text, anything else as base64. */
function inline(bytes: Buffer): FileContent {
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text).equals(bytes) && !text.includes('\0')
  return isText
    ? { content: text, encoding: 'utf8' }
    : { content: bytes.toString('base64'), encoding: 'base64' }
}

export type KeptArtifact = Artifact & { content: NonNullable<Artifact['content']> }

/**
 * Writes the bytes of an artifact to a new file, whole or not at all. Throws `CliError` when there is one
 * already.
 */
export async function saveFile(cli: Cli, artifact: KeptArtifact, path: string): Promise<string> {
  const { io } = cli
  const name = resolve(io.cwd, path)
  const draft = `${name}.${randomUUID()}.part`
  const client = await cli.streamClient()
  const progress = createProgress(io)
  try {
    await using file = await open(draft, 'wx').catch(cannotWrite(name))
    let saved = 0
    for await (const chunk of readContent(client, artifact, { signal: io.signal })) {
      await file.writeFile(chunk).catch(cannotWrite(name))
      saved += chunk.length
      progress.update('Downloading', saved, artifact.content.sizeBytes)
    }
    // Never takes the place of a file, also where there are no links.
    await link(draft, name)
      .catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') throw error
        await copyFile(draft, name, constants.COPYFILE_EXCL)
      })
      .catch(cannotWrite(name))
    return name
  } finally {
    progress.stop()
    await rm(draft, { force: true })
  }
}

function cannotWrite(name: string) {
  return (cause: unknown): never => {
    throw new CliError(`Cannot write ${name}: ${reason(cause)}`, { cause })
  }
}

/** Writes the bytes of an artifact to standard output, unless a person reads it there. */
export async function printContent(cli: Cli, artifact: KeptArtifact): Promise<void> {
  const { io } = cli
  if (io.stdout.isTTY === true) {
    throw new CliError('Cannot print the bytes of an artifact to a terminal: name a file')
  }
  const client = await cli.streamClient()
  for await (const chunk of readContent(client, artifact, { signal: io.signal })) {
    await written(io, chunk)
  }
}

async function written({ stdout }: Io, chunk: Uint8Array): Promise<void> {
  const { promise, resolve: done, reject } = Promise.withResolvers<void>()
  stdout.write(chunk, (error) => (error ? reject(error) : done()))
  await promise
}
