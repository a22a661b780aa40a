/**
 * The part of a tenant that a caller sees and changes: a workspace and what is below it, or the workspaces
 * that are listed and, if said so, what belongs to no workspace.
 */
export type Reach =
  | { readonly kind: 'subtree'; readonly workspaceId: string }
  | {
      readonly kind: 'listed'
      readonly workspaceIds: readonly string[]
      readonly unplaced: boolean
    }

/** Who a caller is to the issuer of its access token. */
export interface IamIdentity {
  readonly bindingId: string
  readonly issuer: string
  /** The subject of the token. */
  readonly principalId: string
  readonly principalKind: 'human' | 'agent' | 'service'
  /** Of the token; they narrow whatever is permitted otherwise. */
  readonly scopes: ReadonlySet<string>
}

/** Who asks, how the request is traced, and the two things that make code unrepeatable as globals. */
export interface Ctx {
  readonly tenantId: string
  /** The principal that acts; always from the credential, never from a body. */
  readonly actorId: string
  /** The key that proved who the actor is; null for an access token, or when the system acts by itself. */
  readonly credentialId: string | null
  /** Set for the holder of an access token of another issuer. */
  readonly iam?: IamIdentity
  /** Absent: the whole tenant. */
  readonly reach?: Reach
  /** Flat permissions of the credential; `admin` implies every other one. */
  readonly permissions: ReadonlySet<string>
  /** Set for a request under a child handle; `permissions` are narrowed to it already. */
  readonly childGrant?: ChildGrant
  readonly requestId: string
  readonly correlationId: string
  /** The caller's `X-Run-Id`, or a generated one: correlation only, not a run of ours. */
  readonly traceRunId: string
  /** The caller's W3C `traceparent`, for whatever is called on its behalf. */
  readonly traceparent?: string | undefined
  /** Told the types of events that the open transaction appended, so that readers are woken after its commit. */
  readonly wake: (types: readonly string[]) => void
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** What limits a child run, beside the permissions it was given. */
export interface ChildGrant {
  readonly handleId: string
  /** The run that made the handle. */
  readonly parentRunId: string
  /** The one task that can be claimed under it. */
  readonly taskId: string
  /** What the handle lets through, whatever the credential permits. */
  readonly permissions: readonly string[]
  /** What the credential could do without the handle. */
  readonly credentialPermissions: ReadonlySet<string>
  /** Names of skills; null where they are not narrowed. */
  readonly skills: readonly string[] | null
  /** Budgets of every run under it. */
  readonly maxDurationSeconds: number | null
  readonly maxActions: number | null
  readonly maxTokens: number | null
  /** Decimal text. */
  readonly maxCost: string | null
  readonly expiresAt: Date
}

/** Whose rows, and how far the reader reaches: what every query names. */
export type Tenancy = Pick<Ctx, 'tenantId' | 'reach'>

/** Whom a change in the journal is attributed to: a request (any `Ctx`), or the system, with no actor. */
export interface Author extends Tenancy {
  readonly actorId: string | null
  readonly requestId: string | null
  readonly correlationId: string | null
  readonly traceRunId: string | null
  readonly iam?: Pick<IamIdentity, 'principalId'>
  readonly wake: (types: readonly string[]) => void
}
