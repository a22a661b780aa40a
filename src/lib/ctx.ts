/** Who asks, how the request is traced, and the two things that make code unrepeatable as globals. */
export interface Ctx {
  readonly tenantId: string
  /** The principal that acts; always from the credential, never from a body. */
  readonly actorId: string
  /** The key that proved who the actor is; null when the system acts by itself. */
  readonly credentialId: string | null
  /** Flat permissions of the credential; `admin` implies every other one. */
  readonly permissions: ReadonlySet<string>
  readonly requestId: string
  readonly correlationId: string
  /** The caller's `X-Run-Id`, or a generated one: correlation only, not a run of ours. */
  readonly traceRunId: string
  /** Told that the open transaction appended events, so that readers are woken after its commit. */
  readonly wake: () => void
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Whose rows: what every query names. */
export type Tenancy = Pick<Ctx, 'tenantId'>

/** Whom a change in the journal is attributed to: a request (any `Ctx`), or the system, with no actor. */
export interface Author extends Tenancy {
  readonly actorId: string | null
  readonly requestId: string | null
  readonly correlationId: string | null
  readonly traceRunId: string | null
  readonly wake: () => void
}
