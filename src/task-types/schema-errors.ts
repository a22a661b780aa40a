import type { CompileSchema } from '#lib/json-schema.ts'

const MAX_LOC_CHARS = 200

/** What in a part of a request does not fit a schema: the places, without the values. */
export function schemaErrors(
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  place: readonly string[],
  compile: CompileSchema,
): { loc: string; message: string }[] {
  const compiled = compile(schema)
  const problems = compiled.ok ? compiled.validate(value) : compiled.problems
  return problems.map(({ path, message }) => ({
    loc: [...place, ...path].join('.').slice(0, MAX_LOC_CHARS),
    message,
  }))
}
