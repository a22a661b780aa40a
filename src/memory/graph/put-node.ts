import { foreign } from '../access/caller.ts'
import { isPrivate, seenByAllOf } from '../scopes.ts'
import { isVisible, isVisibilityScope } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { endVersion, versionsOf } from './graph.ts'
import type { Graph, NodeVersion, Tracked } from './graph.ts'
import type { NodeWrite } from './node-state.ts'
import { holds, lineOf, putVersion } from './put-version.ts'
import { isOfTrail } from './trail.ts'

export interface NodeResult {
  changed: boolean
  warning?: string
}

/**
 * Adds what is said about an entity to its history: from `at` on, until the next thing known, it has
 * these properties besides those it had; later versions get what they do not say themselves. So the
 * state at any moment does not depend on the order of arrival.
 *
 * What is said in private is kept apart for its owner, as long as nothing is shared about the entity.
 *
 * Throws `permission_denied` when the entity is invisible to the writer, or part of the trail.
 */
export function putNode(graph: Graph, write: NodeWrite, writer: Audience): NodeResult {
  if (isOfTrail(write.key)) throw foreign()
  const shared = currentOf(lineOf(graph, { ...write, scopes: [] }), write)
  if (shared && !isVisible(shared.row.scopes, writer)) throw foreign()
  const isDescribed = shared !== undefined && !shared.row.placeholder
  if (isPrivate(write.scopes)) {
    if (!isDescribed) return { changed: putVersion(graph, lineOf(graph, write), write) }
    return { changed: false, warning: `"${write.key}" is shared: it was left as it is` }
  }
  const changed = putVersion(graph, lineOf(graph, write), write)
  endPrivate(graph, write)
  const widened = isDescribed && write.scopes.some(isVisibilityScope)
  return widened && !seenByAllOf(shared.row.scopes, write.scopes)
    ? { changed, warning: `"${write.key}" is seen by more than this observation` }
    : { changed }
}

function currentOf(line: readonly Tracked<NodeVersion>[], { at }: NodeWrite) {
  return line.find(holds(at)) ?? line.at(-1)
}

/** What is shared about an entity takes the place of what anybody kept private about it. */
export function endPrivate(graph: Graph, { key, at }: Pick<NodeWrite, 'key' | 'at'>): void {
  for (const version of versionsOf(graph, key)) {
    const { scopes, validFrom, validTo } = version.row
    if (!isPrivate(scopes) || (validTo !== null && validTo <= at)) continue
    endVersion(graph, version, validFrom > at ? validFrom : at)
  }
}
