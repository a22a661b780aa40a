import { AppError } from '#lib/errors.ts'
import { isUuid } from '#lib/id.ts'
import type { Sql } from './sql.ts'

/** Where a page ends. The column is `timestamptz(3)`: a JavaScript date holds it exactly. */
export interface Position {
  createdAt: Date
  id: string
}

/** One page of a listing in a stable order, newest first by `(created_at, id)`. */
export interface PageRequest {
  /** Names the listing and whatever narrows it; a cursor of one listing is refused by another. */
  listing: string
  limit: number
  /** The last row of the page before; undefined for the first page. */
  after: Position | undefined
}

/**
 * Reads the `limit` and `cursor` of a listing's query. Throws `invalid_cursor` for what is not a
 * cursor of this listing.
 */
export function pageRequest(
  listing: string,
  query: { limit: number; cursor?: string | undefined },
): PageRequest {
  const after = query.cursor === undefined ? undefined : decode(listing, query.cursor)
  return { listing, limit: query.limit, after }
}

/**
 * The condition that skips earlier pages, to follow a `where`:
 *
 *     where tenant_id = ${ctx.tenantId} ${olderThan(sql, page)}
 *     order by created_at desc, id desc
 *     limit ${page.limit + 1}
 */
export function olderThan(sql: Sql, { after }: PageRequest) {
  return after ? sql`and (created_at, id) < (${after.createdAt}, ${after.id})` : sql``
}

/** The same for a listing that shows the oldest first. */
export function newerThan(sql: Sql, { after }: PageRequest) {
  return after ? sql`and (created_at, id) > (${after.createdAt}, ${after.id})` : sql``
}

/** The reply of a listing from `limit + 1` rows: the extra row only tells that there is a next page. */
export function pageOf<Row extends Position, Item>(
  page: PageRequest,
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): { items: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  const nextCursor = last && rows.length > page.limit ? encode(page.listing, last) : null
  return { items: shown.map(toItem), nextCursor }
}

const PREFIX = 'pc1_'
const MOMENT = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function encode(listing: string, { createdAt, id }: Position): string {
  const text = JSON.stringify([listing, createdAt.toISOString(), id])
  return PREFIX + Buffer.from(text).toString('base64url')
}

function decode(listing: string, cursor: string): Position {
  const parts = cursor.startsWith(PREFIX) ? parse(cursor.slice(PREFIX.length)) : undefined
  const [name, at, id] = Array.isArray(parts) && parts.length === 3 ? (parts as unknown[]) : []
  if (name === listing && typeof at === 'string' && typeof id === 'string' && isUuid(id)) {
    const createdAt = new Date(MOMENT.test(at) ? at : Number.NaN)
    if (!Number.isNaN(createdAt.getTime())) return { createdAt, id }
  }
  throw new AppError('invalid_cursor', 'Cannot read the cursor: it is not one of this listing', {
    details: { errors: [{ loc: 'query.cursor', message: 'must be a cursor of this listing' }] },
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown
  } catch {
    return undefined
  }
}
