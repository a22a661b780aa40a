import { z } from 'zod'
import type { ErrorCode } from '#lib/errors.ts'
import { toUtcMicros } from '#lib/instant.ts'

/**
 * Attaches an error code to a check, for the rules that the protocol answers with a code of their own
 * instead of `invalid_request`: `z.string().refine(isPath, coded('invalid_path', 'must be a path'))`.
 */
export function coded(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
  return { error: message, params: { code, details } }
}

/** A moment with a time zone, RFC 3339; dates that do not exist are refused, and in UTC the year 0 and 10000. */
export const Instant = z.iso
  .datetime({ offset: true })
  .refine((at) => toUtcMicros(at) !== undefined, 'must lie in the years 1 to 9999 of UTC')

/** How we write a moment: ISO 8601, UTC, milliseconds. */
export const UtcInstant = z.iso.datetime()

/** A calendar day, `YYYY-MM-DD`. */
export const Day = z.iso.date().refine((day) => !day.startsWith('0000'), 'must be after the year 0')

/** Text that is more than white space. */
export function text(max: number) {
  return z.string().max(max).regex(/\S/, 'must not be blank')
}

/** What stands in URLs and paths: lower-case Latin letters, digits and hyphens. */
export const Slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -, not beginning with -')

/** An integer in a query string: plain decimal digits, nothing else. */
export function queryInt(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d{1,10}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
}

export const queryBool = z.enum(['true', 'false']).transform((value) => value === 'true')

const MAX_LIMIT = 200

/** A page size from 1 to 200; anything else is 422 `invalid_limit`. */
export const PageSize = z
  .string()
  .refine(
    (value) => /^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_LIMIT,
    coded('invalid_limit', `must be a whole number from 1 to ${MAX_LIMIT}`),
  )
  .transform(Number)

/** A page size that is 50 unless given. */
export const Limit = PageSize.default(50)

/** The query of every listing: newest first unless the route says otherwise. */
export const pageQuery = { limit: Limit, cursor: z.string().max(512).optional() }

/** A page of a listing; `nextCursor` is null on the last one. */
export function page<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() })
}

/** A reference to a task: its id or its public id. */
export const TaskRef = z
  .string()
  .regex(
    /^(TASK-\d{1,12}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/,
    'must be a task id',
  )

/** An id in a request, brought to the spelling of the database: comparing it needs no care. */
export const Id = z.uuid().toLowerCase()

/** A JSON object of the caller's own: stored and given back unchanged. */
export const JsonObject = z.record(z.string().max(200), z.unknown())

/** The same, of at most `maxBytes` as JSON. */
export function smallJsonObject(maxBytes: number) {
  return JsonObject.refine(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= maxBytes,
    `must be at most ${maxBytes} bytes of JSON`,
  )
}

/** A lease wish in seconds; brought into the server's bounds rather than refused. */
export const TtlSeconds = z.int().optional()

/** The number that a claim got when it was made; a later claim of the same task has a larger one. */
export const FencingToken = z.int().min(1).max(2_147_483_647)
