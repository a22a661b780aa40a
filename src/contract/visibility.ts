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

/**
 * What a reader asks memory for: the workspace in focus with its ancestors, or every workspace of the
 * tenant when there is no focus, and the reader's own private items. Always sent, so that nobody reads
 * what another declared private.
 */
export function allowedScopes(
  readerId: string,
  focus: readonly string[] | null,
): [string, ...string[]] {
  const workspaces = focus === null ? ['workspace:*'] : focus.map((id) => `workspace:${id}`)
  return [`principal:${readerId}`, ...workspaces]
}
