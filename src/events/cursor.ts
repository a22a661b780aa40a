import { z } from 'zod'
import { AppError } from '#lib/errors.ts'

/** A place between two events of the journal; everything greater comes after it. */
export interface Position {
  journalEpoch: number
  /** 64-bit transaction id as decimal text. */
  txId: string
  /** 64-bit sequence as decimal text. */
  sequence: string
}

/** Before the first event of any tenant. */
export const ORIGIN: Position = { journalEpoch: 0, txId: '0', sequence: '0' }

const PREFIX = 'ec1_'
const MAX_XID8 = 2n ** 64n - 1n
const MAX_BIGINT = 2n ** 63n - 1n

const decimal = (max: bigint) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,19})$/)
    .refine((text) => BigInt(text) <= max)

const Wire = z.strictObject({
  e: z.int().min(0).max(2_147_483_647),
  t: decimal(MAX_XID8),
  s: decimal(MAX_BIGINT),
})

/** `ec1_` + base64url of `{"e": journal epoch, "t": transaction, "s": sequence}`. */
export function encodeCursor({ journalEpoch, txId, sequence }: Position): string {
  const json = JSON.stringify({ e: journalEpoch, t: txId, s: sequence })
  return PREFIX + Buffer.from(json).toString('base64url')
}

/**
 * The position of a cursor. Throws `invalid_cursor`, or `unsupported_cursor_version` for a cursor of
 * another version of this format; `loc` is where the request has it. Only the exact text that {@link encodeCursor} writes is accepted.
 */
export function decodeCursor(cursor: string, loc = 'query.cursor'): Position {
  if (/^ec\d{1,9}_/.test(cursor) && !cursor.startsWith(PREFIX)) {
    throw new AppError('unsupported_cursor_version', 'Cannot read the cursor: unknown version', {
      details: { supported: [1], errors: [{ loc, message: 'is of an unknown version' }] },
    })
  }
  const position = parseWire(cursor)
  if (!position || encodeCursor(position) !== cursor) {
    throw new AppError(
      'invalid_cursor',
      'Cannot read the cursor: it was not made by this journal',
      {
        details: { errors: [{ loc, message: 'must be a cursor of the journal' }] },
      },
    )
  }
  return position
}

function parseWire(cursor: string): Position | undefined {
  if (!cursor.startsWith(PREFIX) || cursor.length > 200) return undefined
  try {
    const json: unknown = JSON.parse(
      Buffer.from(cursor.slice(PREFIX.length), 'base64url').toString(),
    )
    const { e, t, s } = Wire.parse(json)
    return { journalEpoch: e, txId: t, sequence: s }
  } catch {
    return undefined
  }
}

/** Negative, zero or positive, like a sort comparator. */
export function comparePositions(a: Position, b: Position): number {
  if (a.journalEpoch !== b.journalEpoch) return a.journalEpoch - b.journalEpoch
  const tx = BigInt(a.txId) - BigInt(b.txId)
  const order = tx === 0n ? BigInt(a.sequence) - BigInt(b.sequence) : tx
  return order < 0n ? -1 : Number(order > 0n)
}
