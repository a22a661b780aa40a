/** The value as an object with fields; undefined for anything else, lists included. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The first of the values that is a string with a visible character. */
export function firstText(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value === 'string' && isVisible(value)) return value
  }
  return ''
}

/** True when something remains of the text without white space and invisible characters. */
export function isVisible(text: string): boolean {
  return /[^\s\p{DI}\p{Cc}]/u.test(text)
}
