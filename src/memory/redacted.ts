import { isSensitiveKey } from '#lib/portability.ts'
import { redactCredentials } from '#lib/redact.ts'

const MIN_SECRET_CHARS = 4

/**
 * The same value without credentials: in its texts at any depth, and whole where the name of a field
 * says what it holds.
 */
export function redacted<T>(value: T): T {
  return clean(value) as T
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return redactCredentials(value)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => {
      return [key, isSensitiveKey(key) ? hidden(item) : clean(item)]
    }),
  )
}

/** What stands under a name that promises a credential: its text, or every text of a list. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden)
  return typeof value === 'string' && value.length >= MIN_SECRET_CHARS ? '<redacted>' : clean(value)
}
