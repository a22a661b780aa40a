/**
 * Who may recall what, on the control plane's side, written down once: `memory/visibility.ts` reads
 * what is stamped and asked for here.
 *
 * Something is seen where it belongs, whoever wrote it: it carries the workspace of its own journal
 * row, never an ancestor's. What belongs to no workspace is seen in the whole tenant. Only what its
 * author declared private is kept to the author.
 */
export interface Stamp {
  visibility: Visibility
  /** Of the event itself, at the time it happened: a later move rewrites nothing. */
  workspaceId: string | null
  authorId: string | null
}

export type Visibility = 'workspace' | 'private'

/** The scopes that decide who sees an item; every other scope only says what it is about. */
export function stampScopes({ visibility, workspaceId, authorId }: Stamp): string[] {
  if (visibility === 'private') return [`principal:${authorId ?? NOBODY}`]
  return workspaceId === null ? [] : [`workspace:${workspaceId}`]
}

/** No principal is called so: what is private to an unknown author is seen by nobody. */
const NOBODY = 'nobody'

/** Among allowed scopes: hides what belongs to no workspace and is nobody's own. */
export const PLACED_ONLY = 'placed:only'

/** Where a reader may look whose credential does not reach the whole tenant. */
export interface ReachedPlaces {
  /** Workspaces of the focus, or all within reach when there is no focus. */
  workspaceIds: readonly string[]
  /** Whether what belongs to no workspace is within reach, and so the reader's own. */
  unplaced: boolean
}

/** Memory takes no more scopes than this; what is beyond is not recalled. */
const MAX_WORKSPACES = 498

/**
 * What a reader asks memory for: the workspace in focus with its ancestors, or every workspace of the
 * tenant when there is no focus, and the reader's own private items. Always sent, so that nobody reads
 * what another declared private. A reader of limited reach asks for what it reaches and no more.
 */
export function allowedScopes(
  readerId: string,
  focus: readonly string[] | null,
  reached: ReachedPlaces | null = null,
): [string, ...string[]] {
  const own = `principal:${readerId}` as const
  if (reached) {
    const { workspaceIds, unplaced } = reached
    const places = workspaceIds.slice(0, MAX_WORKSPACES).map((id) => `workspace:${id}`)
    return [unplaced ? own : PLACED_ONLY, ...places]
  }
  const workspaces = focus === null ? ['workspace:*'] : focus.map((id) => `workspace:${id}`)
  return [own, ...workspaces]
}
