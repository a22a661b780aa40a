import { z } from 'zod'
import { AppError } from '#lib/errors.ts'

/** A listing that only ever grows at its end: `rc1_` for messages to a run, `cd1_` for its children. */
export type CursorKind = 'rc' | 'cd'

const VERSION = 1
const Wire = z.strictObject({ r: z.uuid(), s: z.int().min(0).max(2_147_483_647) })

/** `rc1_` + base64url of `{"r": run, "s": sequence}`: after that one. */
export function encodeSequence(kind: CursorKind, runId: string, sequence: number): string {
  const json = JSON.stringify({ r: runId, s: sequence })
  return `${kind}${VERSION}_${Buffer.from(json).toString('base64url')}`
}

/**
 * The sequence of a cursor of this run; 0, before the first, for none. Throws `invalid_cursor`, or
 * `unsupported_cursor_version` for one of another version of the format. Only the exact text that
 * {@link encodeSequence} writes is accepted.
 */
export function decodeSequence(
  kind: CursorKind,
  runId: string,
  cursor: string | undefined,
): number {
  if (cursor === undefined) return 0
  const loc = 'query.cursor'
  const prefix = `${kind}${VERSION}_`
  if (new RegExp(`^${kind}\\d{1,9}_`).test(cursor) && !cursor.startsWith(prefix)) {
    throw new AppError('unsupported_cursor_version', 'Cannot read the cursor: unknown version', {
      details: { supported: [VERSION], errors: [{ loc, message: 'is of an unknown version' }] },
    })
  }
  const sequence = cursor.startsWith(prefix) ? parse(cursor.slice(prefix.length)) : undefined
  if (sequence?.r === runId && encodeSequence(kind, runId, sequence.s) === cursor) {
    return sequence.s
  }
  throw new AppError('invalid_cursor', 'Cannot read the cursor: it is not one of this listing', {
    details: { errors: [{ loc, message: 'must be a cursor of this listing' }] },
  })
}

function parse(text: string): z.infer<typeof Wire> | undefined {
  try {
    return Wire.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}
