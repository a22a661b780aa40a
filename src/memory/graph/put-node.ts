import { foreign } from '../access/caller.ts'
import { isPrivate, seenByAllOf } from '../scopes.ts'
import { isVisible, isVisibilityScope } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import type { Graph } from './graph.ts'
import type { NodeWrite } from './node-state.ts'
import { holds, lineOf, putVersion } from './put-version.ts'

export interface NodeResult {
  changed: boolean
  warning?: string
}

/**
 * Adds what is said about an entity to its history: from `at` on, until the next thing known, it has
 * these properties besides those it had; later versions get what they do not say themselves. So the
 * state at any moment does not depend on the order of arrival.
 *
 * Throws `permission_denied` when the entity is invisible to the writer.
 */
export function putNode(graph: Graph, write: NodeWrite, writer: Audience): NodeResult {
  const line = lineOf(graph, write)
  const current = line.find(holds(write.at)) ?? line.at(-1)
  if (current && !isVisible(current.row.scopes, writer)) throw foreign()
  const isShared =
    current !== undefined && !isPrivate(current.row.scopes) && !current.row.placeholder
  if (isShared && isPrivate(write.scopes)) {
    return { changed: false, warning: `"${write.key}" is shared: it was left as it is` }
  }
  const changed = putVersion(graph, line, write)
  const widened = current && !current.row.placeholder && write.scopes.some(isVisibilityScope)
  return widened && !seenByAllOf(current.row.scopes, write.scopes)
    ? { changed, warning: `"${write.key}" is seen by more than this observation` }
    : { changed }
}
