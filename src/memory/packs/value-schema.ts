import { Ajv2020 } from 'ajv/dist/2020.js'
import { problemsOf } from '#lib/json-schema.ts'
import type { Validate } from '#lib/json-schema.ts'
import { linearPatterns } from './pattern.ts'

const MAX_DEPTH = 16

/**
 * Makes a check of the part of JSON Schema that packs use: type, enum, const, pattern, lengths, bounds,
 * properties, required, `additionalProperties: false`, items. Other keywords are notes. It takes time
 * linear in the value. Throws a plain `Error` with the reason for a schema that cannot be used.
 */
export function checkOf(schema: unknown): Validate {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    logger: false,
    code: { regExp: linearPatterns },
  })
  const known = knownPart(schema, 0)
  if (ajv.validateSchema(known) !== true) {
    const [first] = ajv.errors ?? []
    throw new Error(`${first?.instancePath ?? ''} ${first?.message ?? 'is no schema'}`.trim())
  }
  const validate = ajv.compile(known)
  return (value) => (validate(value) ? [] : problemsOf(validate.errors))
}

const KEPT = [
  'type',
  'enum',
  'const',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'required',
]

function knownPart(schema: unknown, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new Error('is nested too deeply')
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new Error('must be an object with keywords')
  }
  const given = new Map<string, unknown>(Object.entries(schema))
  const known: [string, unknown][] = KEPT.filter((name) => given.has(name)).map((name) => [
    name,
    given.get(name),
  ])
  if (given.get('additionalProperties') === false) known.push(['additionalProperties', false])
  const items = given.get('items')
  if (items !== undefined) known.push(['items', knownPart(items, depth + 1)])
  const properties = given.get('properties')
  if (properties !== undefined) {
    if (typeof properties !== 'object' || properties === null) throw new Error('has no properties')
    const inner = Object.entries(properties).map(
      ([name, one]) => [name, knownPart(one, depth + 1)] as const,
    )
    known.push(['properties', Object.fromEntries(inner)])
  }
  return Object.fromEntries(known)
}
