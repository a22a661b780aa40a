import { stripFence } from '#lib/fence.ts'
import { dropInvisible } from '#lib/invisible.ts'

/**
 * The same value as it may be shown: no text in it, names of fields included, holds a tag of the memory
 * fence or what a reader cannot see. For keys, places and attributes, from which credentials were taken
 * when they were stored; what somebody said goes through `neutralise`.
 */
export function shown<T>(value: T): T {
  return clean(value) as T
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return stripFence(dropInvisible(value))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(clean)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [
      stripFence(dropInvisible(key)),
      clean(item),
    ]),
  )
}
