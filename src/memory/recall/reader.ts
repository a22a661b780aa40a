import type { Audience } from '../visibility.ts'

/**
 * What a read may see and at which moment, the same for every channel. `asOf` is a moment of the world,
 * `knownAt` one of our knowledge, both ISO 8601 to the microsecond; null is now.
 */
export interface Reader {
  audience: Audience
  asOf: string | null
  knownAt: string | null
  relevance: Relevance
}

/**
 * Which items matter to the question. `about` keeps those that carry one of the scopes or none at all;
 * `placed` comes from a reader who stands in a workspace: there everything that belongs to no workspace
 * matters too. Who speaks as a principal and stands in no workspace looks at all that is in sight:
 * being somebody is not a subject.
 */
export type Relevance =
  | { filter: 'none' }
  | { filter: 'about'; scopes: readonly string[] }
  | { filter: 'placed'; scopes: readonly string[] }

/** The relevance of a request's `scopes`. */
export function relevanceOf(scopes: readonly string[]): Relevance {
  if (scopes.length === 0) return { filter: 'none' }
  if (scopes.some((scope) => scope.startsWith('workspace:'))) return { filter: 'placed', scopes }
  const speaks = scopes.some((scope) => scope.startsWith('principal:'))
  return speaks ? { filter: 'none' } : { filter: 'about', scopes }
}
