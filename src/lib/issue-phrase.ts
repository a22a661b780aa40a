import type { z } from 'zod'

/**
 * What is wrong with a value, as the end of a sentence that begins with its place: `body.maxTokens must
 * be at least 1`. Given to a parse as `{ error: issuePhrase }`; a check's own words go before it. The
 * value itself is never part of it.
 */
export function issuePhrase(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'is missing' : `must be ${typeName(issue.expected)}`
  }
  if (issue.code === 'too_small') {
    return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
  }
  if (issue.code === 'too_big') {
    return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
  }
  return otherPhrase(issue)
}

function otherPhrase(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_format') return `must be ${FORMATS[issue.format] ?? formatOf(issue)}`
  if (issue.code === 'invalid_value') {
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
  }
  if (issue.code === 'unrecognized_keys') return `has what is not known: ${issue.keys.join(', ')}`
  if (issue.code === 'not_multiple_of') return `must be a multiple of ${issue.divisor}`
  if (issue.code === 'invalid_key') return 'has a name that is not allowed'
  return issue.code === 'invalid_union' ? 'has none of the forms it may have' : undefined
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
}

function typeName(expected: string): string {
  return TYPES[expected] ?? `a ${expected}`
}

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'entry',
  set: 'entry',
  map: 'entry',
  file: 'byte',
}

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const unit = UNITS[origin]
  if (unit === undefined) return `must be ${comparison} ${limit}`
  const plural = unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`
  return `must have ${comparison} ${limit} ${limit === 1 ? unit : plural}`
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  url: 'a URL',
  date: 'a day such as 2026-12-31',
  datetime: 'a moment such as 2026-12-31T00:00:00Z',
  base64: 'base64',
}

function formatOf({ format, pattern }: { format: string; pattern?: string }): string {
  return pattern === undefined ? `in the format ${format}` : `like ${pattern}`
}
