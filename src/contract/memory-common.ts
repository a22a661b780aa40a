import { z } from 'zod'
import { toUtcMicros, toUtcSeconds } from '#lib/instant.ts'

/** The longest key of a node: fits an index together with its kind, whatever the script. */
export const MAX_KEY_CHARS = 512
const CONTROL = /[\p{Cc}\u2028\u2029]/u

/** An opaque name; isolation is by exact match. */
export const NamespaceName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._:-]{0,199}$/, 'must be a namespace name')

/** The one namespace a write goes to; the service's default when absent. */
export const WriteScope = z.strictObject({ namespace: NamespaceName.optional() })

/** Namespaces of a read, 1 to 50. */
export const ReadScope = z.strictObject({
  namespace: NamespaceName.optional(),
  namespaces: z.array(NamespaceName).min(1).max(50).optional(),
})

/** A moment in ISO 8601, UTC when it names no zone; kept to the microsecond. */
export const Moment = z.string().transform((text, ctx) => {
  const micros = toUtcMicros(text)
  if (micros === undefined) ctx.addIssue('must be a moment in ISO 8601')
  return micros ?? z.NEVER
})

/** The same for facts, which are told apart by it: kept to the second. */
export const FactMoment = z.string().transform((text, ctx) => {
  const seconds = toUtcSeconds(text)
  if (seconds === undefined) ctx.addIssue('must be a moment in ISO 8601')
  return seconds ?? z.NEVER
})

const ScopeText = z
  .string()
  .max(256)
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}:[^\s\p{Cc}]{1,190}$/u, 'must be a scope: type:id')

/** What an item is about or who may see it, as `type:id` or `{type, id}`. */
export const ScopeRef = z
  .union([
    z.string(),
    z
      .strictObject({ type: z.string(), id: z.string() })
      .transform(({ type, id }) => `${type}:${id}`),
  ])
  .pipe(ScopeText)

export const ItemScopes = z
  .array(ScopeRef)
  .max(20)
  .transform((scopes) => [...new Set(scopes)])

/** Narrows what the caller may see or write: null or absent leaves it as it is. */
export const AllowedScopes = z.array(ScopeRef).max(500).nullish()

/** A name without line ends and other control characters. */
export function label(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/\S/, 'must not be blank')
    .refine((text) => !CONTROL.test(text), 'must not contain control characters')
}

export const NodeKey = label(MAX_KEY_CHARS)
export const NodeType = label(64)

/** Who acts, or what is spoken of. */
export const ActorRef = z.strictObject({ type: label(64), id: label(256) })

/** Attributes and other data of a caller's own: kept as given, keys included. */
export const FreeForm = z.record(z.string(), z.unknown())

/** A number from 0 to 1; what lies outside is brought to the nearer end. */
export const Confidence = z.number().transform((value) => Math.min(1, Math.max(0, value)))

/** Where personal data is protected: whether some was masked in this answer. */
export const PiiMasked = z.literal(true).optional()
