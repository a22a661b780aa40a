import { PLACED_ONLY } from '#contract/visibility.ts'

/**
 * Who may see an item inside its namespace, written down once.
 *
 * An item's audience is read off its scopes: its `workspace:` scopes if it has any, else its
 * `principal:` scopes, else everybody. So the author of something recorded in a workspace decides
 * nothing, and what belongs to no workspace is seen in the whole namespace unless it is private.
 * `migrations/memory` keeps the same rule as the generated column `audience`; a test compares them.
 */
export function audienceOf(scopes: readonly string[]): string[] {
  const workspaces = scopes.filter((scope) => scope.startsWith(WORKSPACE))
  if (workspaces.length > 0) return workspaces
  return scopes.filter((scope) => scope.startsWith(PRINCIPAL))
}

/**
 * What a reader may see: everything, or the audiences listed (`workspace:*` stands for every workspace) and
 * what has no audience, unless the reader is kept to what has one (`placed:only`).
 */
export type Audience =
  | { all: true }
  | { all: false; everyWorkspace: boolean; unplaced: boolean; scopes: string[] }

export const EVERYTHING: Audience = { all: true }

/** The reader's audiences of a request's `allowedScopes`; absent or null leaves the reader unrestricted. */
export function audienceFor(allowedScopes: readonly string[] | null | undefined): Audience {
  if (allowedScopes === undefined || allowedScopes === null) return EVERYTHING
  return {
    all: false,
    everyWorkspace: allowedScopes.includes(EVERY_WORKSPACE),
    unplaced: !allowedScopes.includes(PLACED_ONLY),
    scopes: allowedScopes.filter(isVisibilityScope),
  }
}

/** The list that `audienceFor` makes the same reader of; null for everything. */
export function listedAudience(audience: Audience): string[] | null {
  if (audience.all) return null
  return [
    ...audience.scopes,
    ...(audience.everyWorkspace ? [EVERY_WORKSPACE] : []),
    ...(audience.unplaced ? [] : [PLACED_ONLY]),
  ]
}

/** Whether everything that one reader sees is seen by another. */
export function seesAllOf(wide: Audience, narrow: Audience): boolean {
  if (wide.all) return true
  if (narrow.all || (narrow.everyWorkspace && !wide.everyWorkspace)) return false
  if (narrow.unplaced && !wide.unplaced) return false
  return narrow.scopes.every((scope) => isVisible([scope], wide))
}

/** What both allow: narrowing a reader's rights never widens them. */
export function narrowed(a: Audience, b: Audience): Audience {
  if (a.all) return b
  if (b.all) return a
  const within = (scope: string, other: Extract<Audience, { all: false }>) =>
    other.scopes.includes(scope) || (other.everyWorkspace && scope.startsWith(WORKSPACE))
  return {
    all: false,
    everyWorkspace: a.everyWorkspace && b.everyWorkspace,
    unplaced: a.unplaced && b.unplaced,
    scopes: [
      ...new Set([
        ...a.scopes.filter((scope) => within(scope, b)),
        ...b.scopes.filter((scope) => within(scope, a)),
      ]),
    ],
  }
}

/** Whether an item with these scopes is seen by a reader. The SQL form is `visibleTo`. */
export function isVisible(scopes: readonly string[], reader: Audience): boolean {
  if (reader.all) return true
  const audience = audienceOf(scopes)
  if (audience.length === 0) return reader.unplaced
  return audience.some(
    (scope) =>
      reader.scopes.includes(scope) || (reader.everyWorkspace && scope.startsWith(WORKSPACE)),
  )
}

/**
 * The scopes to store for an item declared private: it leaves its workspaces and belongs to its author
 * alone, so everything derived from it (entities, facts, chunks) is private by carrying its scopes.
 */
export function privateScopes(scopes: readonly string[], author: string | undefined): string[] {
  const rest = scopes.filter((scope) => !scope.startsWith(WORKSPACE))
  const owned = rest.some((scope) => scope.startsWith(PRINCIPAL))
  return owned || author === undefined ? rest : [...rest, `${PRINCIPAL}${author}`]
}

/** Only these two kinds of scope hide anything; every other scope says what an item is about. */
export function isVisibilityScope(scope: string): boolean {
  return scope.startsWith(WORKSPACE) || scope.startsWith(PRINCIPAL)
}

const WORKSPACE = 'workspace:'
const PRINCIPAL = 'principal:'
const EVERY_WORKSPACE = 'workspace:*'
