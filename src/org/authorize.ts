import { timingSafeEqual } from 'node:crypto'
import type { Route, RouteInput } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId, sha256 } from '#lib/id.ts'
import { authenticate, invalidCredentials } from './authenticate.ts'
import type { KeyRules, RequestTrace } from './authenticate.ts'
import { requirePermission } from './permission.ts'

type Decide = (ctx: Ctx, route: Route, input: RouteInput<Route>) => Promise<Ctx>

export interface AuthorizeOptions {
  db: Database
  /** Enables the bootstrap route; without it that route is refused. */
  bootstrapToken: string | undefined
  /** Which local keys (`cp_...`) are accepted. */
  keys: KeyRules
  /** The holder of an access token of another issuer; absent when none is accepted. */
  identifyToken?: ((token: string, trace: RequestTrace) => Promise<Ctx>) | undefined
  /** Decides about holders of access tokens once it is known what a request is about. */
  decide?: Decide | undefined
}

/**
 * The caller of a request, when the route is open to that caller. Throws `invalid_credentials`,
 * `principal_not_active`, `permission_denied` or `bootstrap_disabled`. What kind of credential it is shows
 * in its form alone: a key of ours, or the three parts of a signed token.
 *
 * On a route that needs no credential the context names a tenant and a principal that do not exist:
 * nothing can be read through it, and bootstrap creates exactly these two.
 */
export async function authorize(
  options: AuthorizeOptions,
  request: Request,
  route: Route,
  trace: RequestTrace,
): Promise<Ctx> {
  const { access } = route
  if (access === 'public') return { ...strangerCtx(trace), signal: request.signal }
  const token = bearerOf(request)
  if (access === 'bootstrap') {
    checkBootstrapToken(options.bootstrapToken, token)
    return { ...strangerCtx(trace), signal: request.signal }
  }
  const ctx = await identify(options, token, trace)
  const isDecidedLater = options.decide !== undefined && ctx.iam !== undefined
  if (access !== 'authenticated' && !isDecidedLater) requirePermission(ctx, access)
  return { ...ctx, signal: request.signal }
}

const SIGNED_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/

async function identify(
  { db, keys, identifyToken }: AuthorizeOptions,
  token: string,
  trace: RequestTrace,
): Promise<Ctx> {
  if (!SIGNED_TOKEN.test(token)) return await authenticate(db, token, trace, keys)
  if (!identifyToken) throw invalidCredentials()
  return await identifyToken(token, trace)
}

/** Nobody yet: ids that are in no table and no permission. */
export function strangerCtx(trace: RequestTrace): Ctx {
  return {
    ...trace,
    tenantId: newId(),
    actorId: newId(),
    credentialId: null,
    permissions: new Set(),
    wake: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}

function bearerOf(request: Request): string {
  const header = request.headers.get('authorization') ?? ''
  const [, token] = /^Bearer +(\S+) *$/i.exec(header) ?? []
  if (token === undefined) {
    throw new AppError(
      'invalid_credentials',
      'Cannot tell who is calling: send the header "Authorization: Bearer <key>"',
    )
  }
  return token
}

function checkBootstrapToken(expected: string | undefined, given: string): void {
  if (expected === undefined) {
    throw new AppError('bootstrap_disabled', 'Cannot bootstrap: no bootstrap token is configured')
  }
  const equal = timingSafeEqual(Buffer.from(sha256(expected)), Buffer.from(sha256(given)))
  if (!equal) throw invalidCredentials()
}
