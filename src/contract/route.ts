import { z } from 'zod'
import type { ErrorCode } from '#lib/errors.ts'
import type { Permission } from './permissions.ts'

const none = z.strictObject({})

/** Entities whose version travels in `ETag` and `If-Match` as `"<entity>-<version>"`. */
export type VersionedEntity =
  | 'task'
  | 'workspace'
  | 'workspace_type'
  | 'project'
  | 'principal'
  | 'run'
  | 'role'
  | 'iam_binding'
  | 'capability'
  | 'goal'
  | 'comment'
  | 'skill'
  | 'webhook'

/**
 * Who may call a route: anyone (`public`), the holder of the installation's bootstrap token
 * (`bootstrap`), any valid credential (`authenticated`), or one permission. Finer rules (ownership,
 * scope) are the command's.
 */
export type Access = 'public' | 'bootstrap' | 'authenticated' | Permission

export interface RouteRules {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with `{name}` placeholders, one for each key of `params`; a verb follows a colon. */
  readonly path: `/${string}`
  readonly summary: string
  /** Heading in the API document. */
  readonly tag: string
  readonly access: Access
  /** Every success status a handler may choose; the first is the default. */
  readonly statuses: readonly (101 | 200 | 201 | 202 | 207)[]
  readonly errors: readonly ErrorCode[]
  /** Top-level body fields whose every fault answers with a code of its own, not `invalid_request`. */
  readonly fieldCodes?: Readonly<Record<string, ErrorCode>>
  /** Replies carry `ETag` made of this entity's name and the reply's `version`. */
  readonly etag?: VersionedEntity
  /** Replies carry `ETag` made of their `viewHash`; one named in `If-None-Match` is answered 304. */
  readonly viewHash?: true
  /** The request must carry `If-Match` with the version it changes. */
  readonly ifMatch?: VersionedEntity
  /** `none` on reads; `required` where a repeat would act twice and cannot be told from a new wish. */
  readonly idempotencyKey: 'none' | 'optional' | 'required'
  /** Reply fields shown once: stored as null in the idempotency record. */
  readonly secretFields?: readonly string[]
  /** Only for the few routes with large bodies; otherwise the server's default. */
  readonly bodyLimit?: 'knowledge'
  /** The reply is `Content` (contract/content.ts), sent as bytes. */
  readonly content?: true
  /** The reply comes again and again until either side ends it. */
  readonly stream?: 'sse' | 'websocket'
  /** The body is bytes, whatever `Content-Type` says, and is read by the handler. */
  readonly bytes?: true
  /** May take as long as moving large content does: takes a turn among such routes, not among all. */
  readonly transfer?: true
}

/** One HTTP operation as data. The server binds a handler to it; clients and OpenAPI are derived from it. */
export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
> extends RouteRules {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly reply: Reply
}

export interface RouteInput<R extends Route> {
  params: z.output<R['params']>
  query: z.output<R['query']>
  body: z.output<R['body']>
}

export type RouteReply<R extends Route> = z.output<R['reply']>

type None = typeof none
type Defaulted = 'statuses' | 'errors' | 'idempotencyKey'

/** Fills the parts a route does not use with "nothing allowed", and the usual rules of its method. */
export function route<
  Reply extends z.ZodType,
  Params extends z.ZodType = None,
  Query extends z.ZodType = None,
  Body extends z.ZodType = None,
>(
  definition: Omit<RouteRules, Defaulted> &
    Partial<Pick<RouteRules, Defaulted>> & {
      params?: Params
      query?: Query
      body?: Body
      reply: Reply
    },
): Route<Params, Query, Body, Reply> {
  return {
    statuses: [200],
    errors: [],
    idempotencyKey: definition.method === 'POST' ? 'optional' : 'none',
    ...definition,
    params: definition.params ?? (none as unknown as Params),
    query: definition.query ?? (none as unknown as Query),
    body: definition.body ?? (none as unknown as Body),
  }
}
