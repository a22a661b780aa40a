import { z } from 'zod'
import type { Route } from '#contract/route.ts'

/** A request that breaks one rule of a route, and what its refusal must say. */
export interface Refusal {
  name: string
  /** Instead of a valid path. */
  path?: string
  search?: string
  body?: string | Uint8Array
  /** Send the body in pieces, without telling its length. */
  chunked?: boolean
  headers?: Record<string, string>
  status: readonly number[]
  codes: readonly string[]
  /** Where the fault is: this place or, for a union that cannot be told apart, one that contains it. */
  loc?: string
}

/** Stands in refused values; an answer that holds it echoes what it refused. */
export const PLANTED = 'sw0rdf1sh'

const bad = { status: [400], codes: ['invalid_request'] } as const

/** Every refusal that a route owes, derived from its contract. */
export function refusalsOf(route: Route, limits: { defaultBytes: number; knowledgeBytes: number }) {
  const limit = route.bodyLimit === 'knowledge' ? limits.knowledgeBytes : limits.defaultBytes
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  return [
    ...pathRefusals(route),
    ...headerRefusals(route),
    ...queryRefusals(route),
    ...(hasBody && !route.bytes ? [...bodyRefusals(limit), ...fieldRefusals(route)] : []),
  ]
}

/** The path of a route with well-formed values that name nothing. */
export function pathOf(route: Route, values: Record<string, string> = {}): string {
  return route.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? wellFormed(route, name),
  )
}

function wellFormed(route: Route, name: string): string {
  const suits = (value: string) => {
    const { error } = route.params.safeParse({ [name]: value })
    return !error?.issues.some(({ path }) => path[0] === name)
  }
  return [crypto.randomUUID(), 'nothing', '7'].find(suits) ?? ''
}

function pathRefusals(route: Route): Refusal[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) =>
    ['a%00b', '%ff%fe', '%zz', '..%2f..', "'", '%F0%9F%92%A9'].map((value) => ({
      name: `path parameter ${name} as ${value}`,
      path: pathOf(route, { [name]: value }),
      status: [400, 404],
      codes: ['invalid_request', 'not_found'],
    })),
  )
}

function headerRefusals(route: Route): Refusal[] {
  const key = { name: 'malformed Idempotency-Key', loc: 'header.Idempotency-Key', ...bad }
  const entity = route.ifMatch
  return [
    { ...key, headers: { 'idempotency-key': 'k'.repeat(256) } },
    ...(entity === undefined
      ? []
      : [
          ...['*', '1', '"1"', `"${entity}-0"`, `"${entity}-1e1"`, `W/"${entity}-1"`].map(ifMatch),
          {
            name: 'no If-Match',
            headers: { 'if-match': '' },
            status: [428],
            codes: ['if_match_required'],
          },
        ]),
  ]
}

function ifMatch(value: string): Refusal {
  return {
    name: `If-Match ${value}`,
    headers: { 'if-match': value },
    status: [400],
    codes: ['invalid_if_match'],
  }
}

/** Greatest `limit` of what is no listing. */
const MOST: Readonly<Record<string, number>> = { '/api/memory/consolidate': 5000 }

function queryRefusals(route: Route): Refusal[] {
  const fields = Object.entries(schemaOf(route.query).properties ?? {})
  return [
    query('surprise', PLANTED),
    query('surprise', `${PLANTED}%00`),
    query('__proto__', PLANTED),
    query('', PLANTED),
    ...fields.flatMap(([name, schema]) => [
      query(name, `${PLANTED}%00`),
      ...(formatsIn(schema).includes('uuid') ? [query(name, PLANTED)] : []),
      ...(formatsIn(schema).includes('date-time')
        ? NO_SUCH_MOMENTS.map((moment) => query(name, encodeURIComponent(moment)))
        : []),
    ]),
    ...fields
      .filter(([name]) => name === 'cursor' || name === 'after')
      .map(([name]) => ({
        ...query(name, PLANTED),
        status: [422, 404],
        codes: ['invalid_cursor', 'not_found'],
      })),
    ...(fields.some(([name]) => name === 'limit')
      ? [
          '0',
          String((MOST[route.path] ?? 200) + 1),
          '-1',
          '1e2',
          PLANTED,
          '%D9%A3',
          '1&limit=2',
        ].map((value) => ({
          ...query('limit', value),
          status: [422, 400],
          codes: ['invalid_limit', 'invalid_request'],
        }))
      : []),
  ]
}

function query(name: string, value: string): Refusal {
  return {
    name: `query parameter ${name} as ${value}`,
    search: `?${name}=${value}`,
    loc: `query.${name}`,
    ...bad,
  }
}

function whole(name: string, body: string | Uint8Array): Refusal {
  return { name, body, loc: 'body', ...bad }
}

function inside(name: string, json: string): Refusal {
  return { ...whole(name, `{"surprise":${json}}`), loc: 'body.surprise' }
}

function bodyRefusals(limit: number): Refusal[] {
  const tooLarge = { status: [413], codes: ['request_too_large'], body: filled(limit + 1) }
  return [
    whole('no JSON', '{'),
    ...['[]', '1', 'null', 'true', `"${PLANTED}"`].map((json) => whole(`body ${json}`, json)),
    whole('UTF-8 that is not', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    whole('nesting without end', `{"a":${'['.repeat(limit / 2)}`),
    whole('nesting too deep', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`),
    whole('a number beyond a double', '{"surprise":1e400}'),
    whole('an integer beyond 2^53', '{"surprise":[9007199254740993]}'),
    whole('a number that vanishes', '{"surprise":1e-400}'),
    whole('a key with NUL', `{"${PLANTED}\\u0000":1}`),
    inside('an unknown field', `"${PLANTED}"`),
    inside('NUL', `"${PLANTED}\\u0000"`),
    inside('a lone surrogate', `"${PLANTED}\\ud800"`),
    { ...whole('__proto__ as a field', `{"__proto__":"${PLANTED}"}`), loc: 'body.__proto__' },
    { ...whole('constructor as a field', '{"constructor":{}}'), loc: 'body.constructor' },
    { name: 'a body over the limit', ...tooLarge },
    { name: 'a body over the limit in pieces', chunked: true, ...tooLarge },
  ]
}

function filled(bytes: number): string {
  const frame = '{"surprise":""}'
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`)
}

/** Wrong values in the fields that a body has: of another type, and days that are in no calendar. */
function fieldRefusals(route: Route): Refusal[] {
  const schema = schemaOf(route.body)
  const refused = { status: [400, 422], codes: ['invalid_request', ...route.errors] }
  const wrongTypes = Object.keys(schema.properties ?? {}).flatMap((name) =>
    [{ surprise: [PLANTED] }, [[PLANTED]], 0.5, true, PLANTED, ''].flatMap((value) => {
      const { error } = route.body.safeParse({ [name]: value })
      if (!error?.issues.some(({ path }) => path[0] === name)) return []
      const body = JSON.stringify({ [name]: value })
      return [{ name: `${name} as ${body}`, body, loc: `body.${name}`, ...refused }]
    }),
  )
  const days = dayPaths(schema, schema.$defs ?? {}).flatMap(({ path, format, union }) =>
    (format === 'date' ? ['2026-02-31'] : NO_SUCH_MOMENTS).map((value) => {
      const body = JSON.stringify(path.reduceRight<unknown>(wrap, value))
      const loc = ['body', ...path.slice(0, union)].join('.')
      return { name: `${['body', ...path].join('.')} as ${value}`, body, loc, ...refused }
    }),
  )
  return [...wrongTypes, ...days]
}

/** Days of no calendar, and moments that are in the year 10000 or 0 by UTC. */
const NO_SUCH_MOMENTS = [
  '2026-02-31T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '0001-01-01T00:00:00+23:59',
]

function wrap(inner: unknown, step: string | number): unknown {
  return typeof step === 'number' ? [inner] : { [step]: inner }
}

interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** JSON Schema of what a caller may send. */
export function schemaOf(type: z.ZodType): Schema {
  const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema
  // A named type stands among the definitions.
  const named = schema.$defs?.[schema.$ref?.replace('#/$defs/', '') ?? '']
  return named ? { ...named, $defs: schema.$defs ?? {} } : schema
}

function formatsIn(schema: Schema): string[] {
  const own = schema.format === undefined ? [] : [schema.format]
  return [...own, ...(schema.anyOf ?? schema.oneOf ?? []).flatMap(formatsIn)]
}

interface DayPath {
  path: (string | number)[]
  format: string
  /** How many steps lead to a union of objects told apart by a field, which is not sent here. */
  union?: number
}

/** Where a body holds days and moments, through objects, lists and alternatives. */
function dayPaths(schema: Schema, defs: Record<string, Schema>, depth = 0): DayPath[] {
  if (depth > 12) return []
  const deeper = (one: Schema, step: (string | number)[]) =>
    dayPaths(one, defs, depth + 1).map(({ path, format, union }) => ({
      path: [...step, ...path],
      format,
      ...(union !== undefined && { union: union + step.length }),
    }))
  const target = schema.$ref === undefined ? undefined : defs[schema.$ref.replace('#/$defs/', '')]
  if (schema.format === 'date' || schema.format === 'date-time') {
    return [{ path: [], format: schema.format }]
  }
  return [
    ...(target ? deeper(target, []) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => deeper(one, [name])),
    ...(schema.items ? deeper(schema.items, [0]) : []),
    ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((one) => deeper(one, [])),
    ...(schema.oneOf ?? []).flatMap((one) => deeper(one, [])).map((day) => ({ ...day, union: 0 })),
  ]
}
