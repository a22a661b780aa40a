import type { SchemaProblem } from '#lib/json-schema.ts'

const MAX_LOC_CHARS = 200

/** What is wrong with a part of a body, as the API words it. */
export function atBody(...part: readonly string[]) {
  return ({ path, message }: SchemaProblem) => ({
    loc: ['body', ...part, ...path].join('.').slice(0, MAX_LOC_CHARS),
    message,
  })
}
