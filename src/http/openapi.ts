import { z } from 'zod'
import { PERMISSIONS } from '#contract/permissions.ts'
import type { Route } from '#contract/route.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { STATUS } from './errors.ts'

export interface ApiInfo {
  title: string
  version: string
  description: string
}

/**
 * The OpenAPI 3.1 document of a set of routes. Schemas with a `.meta({ id })` become components; the
 * access, version and idempotency rules of a route appear as security, headers and description.
 */
export function openapi(routes: Record<string, Route>, info: ApiInfo): object {
  const schemas: Record<string, unknown> = {}
  const json = (schema: z.ZodType, io: 'input' | 'output') => ({
    'application/json': {
      schema: hoist(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), schemas),
    },
  })
  const paths: Record<string, Record<string, object>> = {}
  for (const [operationId, route] of Object.entries(routes)) {
    paths[route.path] ??= {}
    const replies = route.content ? CONTENT_REPLIES : repliesOf(route, json)
    Object.assign(paths[route.path] ?? {}, {
      [route.method.toLowerCase()]: {
        operationId,
        summary: route.summary,
        tags: [route.tag],
        description: `Access: ${route.access}.`,
        security: route.access === 'public' ? [] : [{ bearer: [] }],
        parameters: [
          ...parameters('path', route.params),
          ...parameters('query', route.query),
          ...headerParameters(route),
        ],
        ...(hasBody(route) && {
          requestBody: {
            required: true,
            content: route.bytes ? BYTES : json(route.body, 'input'),
          },
        }),
        responses: {
          ...Object.fromEntries(replies),
          ...(route.viewHash && { 304: { description: 'As named in If-None-Match' } }),
          ...errors(route),
        },
      },
    })
  }
  const components = { schemas, securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } }
  return { openapi: '3.1.0', info, paths, components }
}

function hasBody({ method }: Route): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

type Json = (schema: z.ZodType, io: 'output') => { 'application/json': object }

function repliesOf(route: Route, json: Json): (readonly [number, object])[] {
  const headers = replyHeaders(route)
  return route.statuses.map((status) => {
    if (route.stream === 'websocket') return [status, { description: EACH_MESSAGE }]
    const content = json(route.reply, 'output')
    const events = { 'text/event-stream': content['application/json'] }
    return [status, { description: 'Success', headers, content: route.stream ? events : content }]
  })
}

const EACH_MESSAGE = 'The protocol changes; each message is a StreamMessage'

const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
const ETAG = { ETag: { schema: { type: 'string' } } }

/** What every route of bytes answers (see `sendContent`). */
const CONTENT_REPLIES = [
  ['200', { description: 'All bytes', headers: ETAG, content: BYTES }],
  ['206', { description: 'The bytes of the range', headers: ETAG, content: BYTES }],
  ['304', { description: 'The caller has them', headers: ETAG }],
] as const

/** Moves `$defs` to the components of the document, where `#` refers to the whole document. */
function hoist(schema: object, schemas: Record<string, unknown>): object {
  const text = JSON.stringify(schema).replaceAll('#/$defs/', '#/components/schemas/')
  const { $schema: _, $defs, ...rest } = JSON.parse(text) as Record<string, object>
  Object.assign(schemas, $defs)
  return rest
}

function parameters(where: 'path' | 'query', schema: z.ZodType): object[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const { properties = {}, required = [] } = json
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }))
}

function header(name: string, required: boolean, pattern?: string): object {
  return { name, in: 'header', required, schema: { type: 'string', ...(pattern && { pattern }) } }
}

function headerParameters(route: Route): object[] {
  return [
    ...(route.stream ? [header('Last-Event-ID', false)] : []),
    ...(route.ifMatch ? [header('If-Match', true, `^"${route.ifMatch}-[1-9][0-9]*"$`)] : []),
    ...(route.viewHash ? [header('If-None-Match', false)] : []),
    ...(route.idempotencyKey === 'none'
      ? []
      : [header('Idempotency-Key', route.idempotencyKey === 'required')]),
    ...(route.content
      ? ['Range', 'If-Range', 'If-None-Match'].map((name) => header(name, false))
      : []),
  ]
}

function replyHeaders(route: Route): object {
  return route.etag || route.viewHash ? ETAG : {}
}

/** Codes that any route can answer, for what it says in `docs/api.md`. */
export const ANYWHERE = [
  'principal_not_active',
  'scope_not_granted',
  'child_grant_exceeded',
  'child_handle_revoked',
  'child_handle_expired',
  'rate_limited',
  'internal_error',
  'iam_unavailable',
  'policy_unavailable',
  'not_ready',
] as const satisfies readonly ErrorCode[]

const KEY_CODES = ['idempotency_key_reused', 'idempotency_in_flight'] as const
const VERSION_CODES = ['if_match_required', 'invalid_if_match', 'version_conflict'] as const

/** The codes of a route: its own, and those of the rules that it keeps; `ANYWHERE` comes on top. */
export function codesOf(route: Route): Set<ErrorCode> {
  const { access, ifMatch, idempotencyKey } = route
  const isGuarded = PERMISSIONS.some((permission) => permission === access)
  return new Set<ErrorCode>([
    ...(access === 'public' ? [] : (['invalid_credentials'] as const)),
    ...(isGuarded ? (['permission_denied'] as const) : []),
    'invalid_request',
    ...(hasBody(route) ? (['request_too_large'] as const) : []),
    ...(ifMatch === undefined ? [] : VERSION_CODES),
    ...(idempotencyKey === 'none' ? [] : KEY_CODES),
    ...(idempotencyKey === 'required' ? (['idempotency_key_required'] as const) : []),
    ...route.errors,
  ])
}

function errors(route: Route): Record<string, object> {
  const byStatus = Map.groupBy(codesOf(route), (code) => STATUS[code])
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [status, { description: list.join(', ') }]),
  )
}
