import { AppError } from '#lib/errors.ts'
import type { PartRow } from './upload-part.sql.ts'
import type { UploadRow } from './upload.sql.ts'

/** Bounds of what is uploaded. */
export interface UploadLimits {
  maxBytes: number
  /** Life of an upload from its beginning, and from its completion. */
  ttlSeconds: number
}

/** Throws `request_too_large`. */
export function requireSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return
  throw new AppError(
    'request_too_large',
    `Cannot keep the content: it is larger than ${maxBytes} bytes`,
    { details: { maxBytes } },
  )
}

/** Throws `upload_not_open`. */
export function requireOpen({ id, status }: Pick<UploadRow, 'id' | 'status'>): void {
  if (status === 'open') return
  throw new AppError('upload_not_open', `Cannot change upload "${id}": it is ${status}`, {
    details: { status },
  })
}

/** Throws `content_mismatch` for a part that would make the upload larger than it was announced. */
export function requireRoom(upload: UploadRow, otherBytes: number, sizeBytes: number): void {
  const remainingBytes = upload.sizeBytes - otherBytes
  if (sizeBytes <= remainingBytes) return
  throw new AppError(
    'content_mismatch',
    `Cannot add the part to upload "${upload.id}": it has no room for it`,
    { details: { field: 'sizeBytes', remainingBytes } },
  )
}

/** Throws `upload_incomplete` unless the parts are numbered from 1 and have all bytes. */
export function requireAllParts(upload: UploadRow, parts: readonly PartRow[]): void {
  const receivedBytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const gap = parts.findIndex(({ number }, index) => number !== index + 1)
  if (receivedBytes === upload.sizeBytes && gap === -1) return
  const missingPart = gap === -1 ? parts.length + 1 : gap + 1
  throw incomplete(upload, { receivedBytes, missingPart })
}

export function incomplete({ id, sizeBytes, status }: UploadRow, details: object): AppError {
  return new AppError('upload_incomplete', `Cannot use upload "${id}": not all of it is there`, {
    details: { status, sizeBytes, ...details },
  })
}
