import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { endianness } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Snapshot } from './snapshot.ts'

/** What a snapshot is a snapshot of: one that says anything else is of no use. */
export interface SnapshotOwner {
  /** Identity of the database. */
  instance: string
  namespaceId: string
  /** Version of the analysis that made the terms. */
  analysis: number
}

/** Changes with every change of what is kept or how. */
const FORMAT = 1
const MAGIC = Buffer.from('STRATAIX')
const HEAD_BYTES = MAGIC.length + 8
const MAX_HEADER_BYTES = 16 * 1_048_576
/** Checksums are made in pieces of so many bytes, about 2 ms each. */
const STEP_BYTES = 2 * 1_048_576

type Header = SnapshotOwner &
  Omit<Snapshot, 'sections'> & {
    format: number
    endian: string
    sections: { name: string; bytes: number; crc: number }[]
  }

/**
 * Writes a snapshot beside its place and then puts it there, so that a reader finds a whole one or none.
 * Layout: magic, length and checksum of the header, the header as JSON, the stretches in its order.
 */
export async function writeSnapshot(
  path: string,
  owner: SnapshotOwner,
  { sections, ...snapshot }: Snapshot,
): Promise<void> {
  const described = []
  for (const { name, bytes } of sections)
    described.push({ name, bytes: bytes.byteLength, crc: await checksum(bytes) })
  const header: Header = {
    ...owner,
    ...snapshot,
    format: FORMAT,
    endian: endianness(),
    sections: described,
  }
  const text = Buffer.from(JSON.stringify(header))
  const head = Buffer.concat([MAGIC, Buffer.alloc(8)])
  head.writeUInt32LE(text.length, MAGIC.length)
  head.writeUInt32LE(crc32(text), MAGIC.length + 4)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const beside = `${path}.${process.pid}.tmp`
  const file = await open(beside, 'w', 0o600)
  try {
    for (const bytes of [head, text, ...sections.map((section) => section.bytes)])
      await writeAll(file, bytes)
    await file.sync()
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await rename(beside, path)
}

/** The snapshot at a place; undefined when none is there, or anything about it is in doubt. */
export async function readSnapshot(
  path: string,
  owner: SnapshotOwner,
): Promise<Snapshot | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const header = await readHeader(file)
    if (header === undefined || !isOf(header, owner)) return undefined
    const sections: Snapshot['sections'] = []
    for (const { name, bytes, crc } of header.sections) {
      const found = await readBytes(file, bytes)
      if (found === undefined || (await checksum(found)) !== crc) return undefined
      sections.push({ name, bytes: found })
    }
    const { version, writtenAt, slots, gone, terms, names } = header
    return { version, writtenAt, slots, gone, terms, names, sections }
  } finally {
    await file.close()
  }
}

function isOf(header: Header, { instance, namespaceId, analysis }: SnapshotOwner): boolean {
  return (
    header.format === FORMAT &&
    header.endian === endianness() &&
    header.instance === instance &&
    header.namespaceId === namespaceId &&
    header.analysis === analysis
  )
}

async function readHeader(file: FileHandle): Promise<Header | undefined> {
  const head = await readBytes(file, HEAD_BYTES)
  if (head === undefined) return undefined
  const fields = Buffer.from(head)
  if (!fields.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const length = fields.readUInt32LE(MAGIC.length)
  if (length > MAX_HEADER_BYTES) return undefined
  const text = await readBytes(file, length)
  if (text === undefined || crc32(text) !== fields.readUInt32LE(MAGIC.length + 4)) return undefined
  return JSON.parse(Buffer.from(text).toString()) as Header
}

/** The next bytes of a file in memory of their own; undefined when it ends before. */
async function readBytes(file: FileHandle, length: number): Promise<Uint8Array | undefined> {
  const { size } = await file.stat()
  if (length > size) return undefined
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(bytes, at, length - at)
    if (bytesRead === 0) return undefined
    at += bytesRead
  }
  return bytes
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, at)
    at += bytesWritten
  }
}

async function checksum(bytes: Uint8Array): Promise<number> {
  let sum = 0
  for (let at = 0; at < bytes.byteLength; at += STEP_BYTES) {
    sum = crc32(bytes.subarray(at, at + STEP_BYTES), sum)
    await setImmediate()
  }
  return sum
}
