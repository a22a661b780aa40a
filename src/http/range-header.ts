import type { ByteRange } from '#lib/byte-range.ts'

const ONE_RANGE = /^bytes=[\t ]*(?:(\d+)-(\d*)|-(\d+))[\t ]*$/i

/**
 * The part of `sizeBytes` bytes that a `Range` header asks for; undefined to send everything, which is what
 * a header means that is malformed, has another unit or lists several parts; `null` when there is no such
 * part. Source: RFC 9110, section 14.
 */
export function readRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | undefined | null {
  const [, first, last, suffix] = ONE_RANGE.exec(header ?? '') ?? []
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), sizeBytes)
    return length === 0 ? null : { start: sizeBytes - length, end: sizeBytes }
  }
  if (first === undefined) return undefined
  const start = Number(first)
  if (last && Number(last) < start) return undefined
  if (start >= sizeBytes) return null
  return { start, end: last ? Math.min(Number(last) + 1, sizeBytes) : sizeBytes }
}
