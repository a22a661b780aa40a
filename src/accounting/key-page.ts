import { AppError } from '#lib/errors.ts'
import { badText } from '#lib/json.ts'

/** One page of a listing in the order of a text key. */
export interface KeyPage {
  /** Names the listing and whatever narrows it; a cursor of one listing is refused by another. */
  listing: string
  limit: number
  /** The last key of the page before; undefined for the first page. */
  after: string | undefined
}

const PREFIX = 'kc1_'

/** Reads the `limit` and `cursor` of a listing's query. Throws `invalid_cursor`. */
export function keyPage(
  listing: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): KeyPage {
  return { listing, limit, after: cursor === undefined ? undefined : decode(listing, cursor) }
}

/** The reply of a listing from `limit + 1` rows. */
export function keyPageOf<Row extends { key: string }, Item>(
  page: KeyPage,
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): { items: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  const hasMore = last !== undefined && rows.length > page.limit
  return { items: shown.map(toItem), nextCursor: hasMore ? encode(page.listing, last.key) : null }
}

function encode(listing: string, key: string): string {
  return PREFIX + Buffer.from(JSON.stringify([listing, key])).toString('base64url')
}

function decode(listing: string, cursor: string): string {
  const [name, key] = cursor.startsWith(PREFIX) ? parse(cursor.slice(PREFIX.length)) : []
  // A forged key may hold what the database refuses.
  const isKey = name === listing && typeof key === 'string' && badText(key) === undefined
  if (isKey && encode(listing, key) === cursor) return key
  throw new AppError('invalid_cursor', 'Cannot read the cursor: it is not one of this listing', {
    details: { errors: [{ loc: 'query.cursor', message: 'must be a cursor of this listing' }] },
  })
}

function parse(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
