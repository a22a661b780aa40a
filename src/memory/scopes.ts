import { audienceOf, isVisibilityScope } from './visibility.ts'

/**
 * The scopes of something written twice. Who may see it only grows, and what the whole namespace sees
 * stays so; what it is about is what the last writer said, if it said anything.
 */
export function mergedScopes(held: readonly string[], given: readonly string[]): string[] {
  const heldAudience = held.filter(isVisibilityScope)
  const audience =
    heldAudience.length === 0
      ? []
      : [...new Set([...heldAudience, ...given.filter(isVisibilityScope)])]
  const about = given.filter((scope) => !isVisibilityScope(scope))
  const rest = about.length > 0 ? about : held.filter((scope) => !isVisibilityScope(scope))
  return [...audience, ...rest].slice(0, MAX_SCOPES)
}

/** Room for the twenty of each of several writers. */
const MAX_SCOPES = 200

/** Declared private: seen by principals only, not by a workspace and not by the namespace. */
export function isPrivate(scopes: readonly string[]): boolean {
  const audience = audienceOf(scopes)
  return audience.length > 0 && audience.every((scope) => scope.startsWith('principal:'))
}

/** Whose alone something is: its principals when it is private, the empty text when it is shared. */
export function ownerOf(scopes: readonly string[]): string {
  return isPrivate(scopes) ? audienceOf(scopes).toSorted().join(' ') : ''
}

/** Whether something may end what others say: what is private takes nothing away from who does not see it. */
export function mayEnd(newer: readonly string[], older: readonly string[]): boolean {
  return !isPrivate(newer) || seenByAllOf(older, newer)
}

/** Whether everybody who sees `inner` sees `outer` as well. */
export function seenByAllOf(inner: readonly string[], outer: readonly string[]): boolean {
  const wide = audienceOf(outer)
  if (wide.length === 0) return true
  const narrow = audienceOf(inner)
  return narrow.length > 0 && narrow.every((scope) => wide.includes(scope))
}

/** What an observation has its neighbours in: its session, else its task. */
export function sessionKeyOf(
  scopes: readonly string[],
  subject: { type: string; id: string } | null | undefined,
): string | null {
  const session = scopes.find((scope) => scope.startsWith('session:'))
  if (session !== undefined) return session
  if (subject?.type === 'session') return `session:${subject.id}`
  return scopes.find((scope) => scope.startsWith('task:')) ?? null
}
