import { CliError } from './cli-error.ts'

/** A whole number an option must hold; undefined when the option is not given. */
export function wholeNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new CliError(`${option} must be a whole number`)
}

/** A JSON object an option must hold; undefined when the option is not given. */
export function jsonObject(
  text: string | undefined,
  option: string,
): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`${option} must be JSON`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new CliError(`${option} must be a JSON object such as {"step":3}`)
}

/** One of the words an option may hold; undefined when the option is not given. */
export function oneOf<T extends string>(
  text: string | undefined,
  allowed: readonly T[],
  option: string,
): T | undefined {
  if (text === undefined) return undefined
  const word = allowed.find((one) => one === text)
  if (word !== undefined) return word
  throw new CliError(`${option} must be one of ${allowed.join(', ')}`)
}

/** An option that a command cannot do without. */
export function required(text: string | undefined, option: string): string {
  if (text !== undefined && text !== '') return text
  throw new CliError(`${option} is missing`)
}

/** Only what is given: the contract tells an absent field from an empty one. */
export function given<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
