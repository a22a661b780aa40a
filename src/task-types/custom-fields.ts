import { AppError } from '#lib/errors.ts'
import type { CompileSchema } from '#lib/json-schema.ts'

const MAX_LOC_CHARS = 200

/**
 * Throws `invalid_custom_fields`, with the places and without the values, unless the custom fields of a
 * task are what its type says; a type without a schema takes any.
 */
export function requireCustomFields(
  type: { key: string; version: number; customFieldsSchema: Record<string, unknown> | null },
  customFields: Readonly<Record<string, unknown>>,
  compile: CompileSchema,
): void {
  if (!type.customFieldsSchema) return
  const compiled = compile(type.customFieldsSchema)
  const problems = compiled.ok ? compiled.validate(customFields) : compiled.problems
  const errors = problems.map(({ path, message }) => ({
    loc: ['body', 'customFields', ...path].join('.').slice(0, MAX_LOC_CHARS),
    message,
  }))
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_custom_fields',
    `Cannot take the custom fields: ${first.loc} ${first.message}`,
    { details: { typeKey: type.key, typeVersion: type.version, errors } },
  )
}
