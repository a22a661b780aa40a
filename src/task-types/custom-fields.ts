import { AppError } from '#lib/errors.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { schemaErrors } from '#lib/schema-errors.ts'

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
  const place = ['body', 'customFields']
  const errors = schemaErrors(type.customFieldsSchema, customFields, place, compile)
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_custom_fields',
    `Cannot take the custom fields: ${first.loc} ${first.message}`,
    { details: { typeKey: type.key, typeVersion: type.version, errors } },
  )
}
