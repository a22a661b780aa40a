import type { CompiledSchema, SchemaProblem } from '#lib/json-schema.ts'

const MAX_LOC_CHARS = 200

interface Fault {
  loc: string
  message: string
}

/** What is wrong with a part of a body, as the API words it. */
export function atBody(...part: readonly string[]) {
  return ({ path, message }: SchemaProblem): Fault => ({
    loc: ['body', ...part, ...path].join('.').slice(0, MAX_LOC_CHARS),
    message,
  })
}

/** What is wrong with a field of a body by a schema, or with the schema itself; nothing when it fits. */
export function problemsOf(compiled: CompiledSchema, field: string, value: unknown): Fault[] {
  const problems = compiled.ok ? compiled.validate(value) : compiled.problems
  return problems.map(atBody(field))
}
