/** A field of a JSON Schema as a person reads it. */
export interface FieldRow {
  /** With dots for what is inside of an object and `[]` for the entries of a list. */
  name: string
  type: string
  /** `required`, `optional`, or the default. */
  presence: string
}

/** The parts of a JSON Schema that are shown. */
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}

const MAX_DEPTH = 6
const MAX_PATTERN_CHARS = 60

/** The fields of a schema, each before what is inside of it. */
export function fieldRows(schema: Schema): FieldRow[] {
  return rowsIn(schema, '', { root: schema, depth: 0, inside: [] })
}

interface Place {
  root: Schema
  depth: number
  /** Names of the definitions that the place is part of: one that holds itself is shown once. */
  inside: readonly string[]
}

function rowsIn(schema: Schema, prefix: string, place: Place): FieldRow[] {
  const { $ref } = schema
  if (place.depth > MAX_DEPTH || ($ref !== undefined && place.inside.includes($ref))) return []
  const inside = $ref === undefined ? place.inside : [...place.inside, $ref]
  const { properties = {}, required = [], items, ...rest } = resolved(schema, place.root)
  const deeper = { ...place, depth: place.depth + 1, inside }
  const own = Object.entries(properties).flatMap(([key, field]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`
    const row = { name, type: typeOf(field, place.root), presence: presence(field, required, key) }
    return [row, ...rowsIn(field, name, deeper)]
  })
  const entries = items === undefined ? [] : rowsIn(items, `${prefix}[]`, deeper)
  const forms = choices(rest).flatMap((choice) => rowsIn(choice, prefix, deeper))
  return distinct([...own, ...entries, ...forms])
}

/** Forms that one may choose from often share fields. */
function distinct(rows: readonly FieldRow[]): FieldRow[] {
  return [...new Map(rows.map((row) => [`${row.name} ${row.type}`, row])).values()]
}

function presence(field: Schema, required: readonly string[], key: string): string {
  if (field.default !== undefined) return `default ${JSON.stringify(field.default)}`
  return required.includes(key) ? 'required' : 'optional'
}

function resolved(schema: Schema, root: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const name = schema.$ref.replace('#/$defs/', '')
  return schema.$ref === '#' ? root : (root.$defs?.[name] ?? {})
}

function choices({ anyOf, oneOf, allOf }: Schema): readonly Schema[] {
  return anyOf ?? oneOf ?? allOf ?? []
}

function typeOf(given: Schema, root: Schema): string {
  const schema = resolved(given, root)
  const { type } = schema
  const forms = Array.isArray(type)
    ? type.map((one) => ({ ...schema, type: one }))
    : choices(schema)
  if (forms.length > 0) {
    return [...new Set(forms.map((form) => typeOf(form, root)))].join(' or ')
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  return namedType({ ...schema, type: String(type ?? 'any') }, root)
}

function namedType(schema: Schema & { type: string }, root: Schema): string {
  if (schema.type === 'array') {
    const entry = schema.items ? ` of ${typeOf(schema.items, root)}` : ''
    return `list${span(schema.minItems, schema.maxItems)}${entry}`
  }
  if (schema.type === 'string') return textType(schema)
  if (schema.type === 'integer' || schema.type === 'number') return numberType(schema)
  return schema.type
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  'date-time': 'moment',
  date: 'day',
  uri: 'URL',
}

function textType({ format = '', pattern = '', minLength, maxLength }: Schema): string {
  const named = FORMATS[format]
  if (named !== undefined) return named
  const like = pattern === '' || pattern === String.raw`\S` || pattern.length > MAX_PATTERN_CHARS
  return `text${span(minLength, maxLength)}${like ? '' : ` like ${pattern}`}`
}

function numberType({
  type,
  minimum,
  exclusiveMinimum,
  maximum,
}: Schema & { type: string }): string {
  const above = exclusiveMinimum === undefined ? '' : ` > ${exclusiveMinimum}`
  return `${type}${above}${span(minimum, maximum)}`
}

/** Limits that only say what a number can hold say nothing. */
function span(min: number | undefined, max: number | undefined): string {
  const low = min !== undefined && min > Number.MIN_SAFE_INTEGER ? min : undefined
  const high = max !== undefined && max < Number.MAX_SAFE_INTEGER ? max : undefined
  if (low !== undefined && high !== undefined) return ` ${low} … ${high}`
  if (high !== undefined) return ` ≤ ${high}`
  return low === undefined ? '' : ` ≥ ${low}`
}
