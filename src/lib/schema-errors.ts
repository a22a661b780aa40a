import type { CompileSchema } from './json-schema.ts'

const MAX_LOC_CHARS = 200

/** What is wrong at a place of a request, as refusals list it. */
export interface PlacedError {
  loc: string
  message: string
}

/** Words a problem found below a place: `.map(errorAt(['body', 'inputs']))`. */
export function errorAt(place: readonly string[]) {
  return ({ path, message }: { path: readonly (string | number)[]; message: string }) => ({
    loc: [...place, ...path].join('.').slice(0, MAX_LOC_CHARS),
    message,
  })
}

/** What in a part of a request does not fit a schema: the places, without the values. */
export function schemaErrors(
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  place: readonly string[],
  compile: CompileSchema,
): PlacedError[] {
  const compiled = compile(schema)
  const problems = compiled.ok ? compiled.validate(value) : compiled.problems
  return problems.map(errorAt(place))
}

/** Why a part of a request cannot be used as a schema. */
export function unusableSchema(
  schema: Readonly<Record<string, unknown>>,
  place: readonly string[],
  compile: CompileSchema,
): PlacedError[] {
  const compiled = compile(schema)
  return compiled.ok ? [] : compiled.problems.map(errorAt(place))
}
