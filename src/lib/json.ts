/** Deepest nesting of objects and arrays that we accept in a body. */
export const MAX_JSON_DEPTH = 64

export interface JsonProblem {
  /** Where: keys and indexes from the root, empty for the text as a whole. */
  path: (string | number)[]
  message: string
}

export type JsonResult = { ok: true; value: unknown } | { ok: false; problem: JsonProblem }

/**
 * Parses JSON that a database can hold unchanged. Refused with a pointer: nesting deeper than
 * {@link MAX_JSON_DEPTH}, numbers that lose digits or become infinite, NUL characters and lone
 * surrogates in strings and keys, and the key `__proto__`, which JavaScript would drop. Linear in the length of the text.
 */
export function parseJson(text: string): JsonResult {
  if (depthOf(text) > MAX_JSON_DEPTH) {
    return problem([], `must not be nested deeper than ${MAX_JSON_DEPTH}`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return problem([], 'must be JSON')
  }
  if (mayLoseDigits(text)) {
    const lost = findLostNumber(text)
    if (lost !== undefined)
      return problem([], `holds a number that cannot be kept exactly: ${lost}`)
  }
  const found = findBadText(value)
  if (!found) return { ok: true, value }
  return problem(found.steps.toReversed(), found.message)
}

/** Why a string cannot be stored, or undefined when it can. */
export function badText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain a NUL character'
  if (!text.isWellFormed()) return 'must not contain a lone surrogate'
  return undefined
}

function problem(path: (string | number)[], message: string): JsonResult {
  return { ok: false, problem: { path, message } }
}

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index)
    if (inString) {
      if (char === 0x5c) index += 1
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x5b || char === 0x7b) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (char === 0x5d || char === 0x7d) depth -= 1
  }
  return deepest
}

/** Cheap test that lets nearly every body skip the exact one; numbers inside strings rarely match. */
function mayLoseDigits(text: string): boolean {
  return /(?:^|[[:,\s])-?(?:\d{16}|\d+(?:\.\d+)?[eE]|\d+\.\d{300})/.test(text)
}

/** Integers beyond 2^53 and values outside the range of a double; long fractions only round. */
function findLostNumber(text: string): string | undefined {
  let lost: string | undefined
  JSON.parse(text, function check(_key, value: unknown, context?: { source?: string }) {
    if (typeof value !== 'number' || lost !== undefined) return value
    const source = context?.source ?? ''
    const isInteger = /^-?\d+$/.test(source)
    const vanished = value === 0 && /[1-9]/.test(source.split(/[eE]/)[0] ?? '')
    if (!Number.isFinite(value) || vanished || (isInteger && !Number.isSafeInteger(value))) {
      lost = source.slice(0, 40)
    }
    return value
  })
  return lost
}

/** Where and why; the way there is noted from the end, only once something is found. */
interface BadText {
  steps: (string | number)[]
  message: string
}

function findBadText(value: unknown): BadText | undefined {
  if (typeof value === 'string') {
    const message = badText(value)
    return message === undefined ? undefined : { steps: [], message }
  }
  if (typeof value !== 'object' || value === null) return undefined
  return Array.isArray(value) ? findInList(value) : findInObject(value)
}

function findInList(list: readonly unknown[]): BadText | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const found = findBadText(list[index])
    if (found) return { ...found, steps: [...found.steps, index] }
  }
  return undefined
}

function findInObject(value: object): BadText | undefined {
  for (const [key, item] of Object.entries(value)) {
    const message = key === '__proto__' ? 'must not be "__proto__"' : badText(key)
    if (message !== undefined) return { steps: [], message: `has a key that ${message}` }
    const found = findBadText(item)
    if (found) return { ...found, steps: [...found.steps, key] }
  }
  return undefined
}

/** JSON with sorted keys: equal values give equal text. Source: the idea of RFC 8785, keys by code unit. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
