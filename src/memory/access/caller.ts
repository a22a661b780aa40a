import { AppError } from '#lib/errors.ts'
import type { Audience } from '../visibility.ts'

/** Everything under a prefix; the empty prefix is everything. */
export interface Grant {
  prefix: string
  /** Only the namespace of exactly this name. */
  exact?: boolean
  read: boolean
  write: boolean
}

export interface Caller {
  /** Name of the key or token, for logs and for rules about who is the platform itself. */
  label: string
  grants: 'all' | readonly Grant[]
  /** May call what only the platform may, such as registering packs. */
  service: boolean
  /** Sees personal data as it was said, where others see that there was some. */
  pii: boolean
  /** Who says what it sees inside the namespaces of its grants; absent, it sees all there. */
  sight?: Sight
}

export type Right = 'read' | 'write'

/** `request`: it acts for somebody else, and says with each read for whom. */
export type Sight =
  | { by: 'request' }
  | { by: 'policy'; ask: (right: Right, names: readonly string[]) => Promise<Seen> }

/** What somebody sees: the namespaces among those asked about, and the audiences inside them. */
export interface Seen {
  namespaces: ReadonlySet<string>
  audience: Audience
}

/** Who asks and how the request is traced. */
export interface MemoryCtx {
  readonly caller: Caller
  readonly requestId: string
  /** The caller's `X-Run-Id`, or a generated one. */
  readonly runId: string
  /** The caller's `X-Run-Id`, when it sent one. */
  readonly givenRunId?: string
  /** Namespaces that the request is about. */
  readonly touched?: Set<string>
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/**
 * The first of the namespaces that no grant covers, or undefined. A grant covers by plain prefix of the
 * name, so a key for `tenant:1:` covers nothing of `tenant:10`.
 */
export function uncovered(
  caller: Caller,
  right: Right,
  namespaces: readonly string[],
): string | undefined {
  const { grants } = caller
  if (grants === 'all') return undefined
  return namespaces.find(
    (namespace) => !grants.some((grant) => grant[right] && covers(grant, namespace)),
  )
}

function covers({ prefix, exact = false }: Grant, namespace: string): boolean {
  return exact ? namespace === prefix : namespace.startsWith(prefix)
}

/** Throws `permission_denied` naming the first namespace that no grant covers. */
export function requireRight(
  { caller, touched }: MemoryCtx,
  right: Right,
  namespaces: readonly string[],
): void {
  for (const name of namespaces) touched?.add(name)
  const namespace = uncovered(caller, right, namespaces)
  if (namespace === undefined) return
  throw new AppError(
    'permission_denied',
    `Cannot ${right} namespace "${namespace}": no grant covers it`,
    { details: { namespace } },
  )
}

/** The name of everybody where no key is configured. */
export const LOCAL_LABEL = 'default'

/**
 * Throws `permission_denied` for what only the platform may do, where that is limited: to service
 * credentials and the callers listed by their labels. Without a list whoever a grant covers may.
 */
export function requireCore({ caller }: MemoryCtx, listed: readonly string[] | null): void {
  if (listed === null || listed.includes(caller.label)) return
  if (caller.service && caller.label !== LOCAL_LABEL) return
  throw new AppError(
    'permission_denied',
    'Cannot do this: it is left to the platform, which shows a service credential',
  )
}

/** The same words for what is invisible, foreign or out of bounds: nothing is revealed. */
export function foreign(): AppError {
  return new AppError('permission_denied', 'Cannot write: it belongs to others')
}

/** Throws `permission_denied` for what only the platform may do at any time. */
export function requireService({ caller }: MemoryCtx): void {
  if (caller.service) return
  throw new AppError('permission_denied', 'Cannot do this: it takes a service credential')
}

/** Whether a caller reads every namespace there is or will be. */
export function isUnrestricted({ grants, sight }: Caller): boolean {
  if (sight !== undefined) return false
  return (
    grants === 'all' || grants.some(({ prefix, exact, read }) => prefix === '' && !exact && read)
  )
}

/** What a writer may write and touch: what it sees, narrowed by the request. */
export interface Writer {
  audience: Audience
  /** The same as a list of scopes, null for everything: kept with what is written. */
  allowedScopes: readonly string[] | null
}
