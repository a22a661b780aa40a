import type { z } from 'zod'
import type * as contract from '#contract/memory-graph.ts'
import type { Sql } from '#db/sql.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { Reader } from '../recall/reader.ts'
import { selectEdges, selectSeenKeys } from './browse.sql.ts'
import type { EdgeRow } from './browse.sql.ts'
import { nodeNotFound, nodesByKey, placeOf } from './read-nodes.ts'
import type { BrowseDeps } from './read-nodes.ts'
import { edgeOf } from './shown-graph.ts'

type Input = z.output<(typeof contract.shortestPath)['body']>
type Reply = z.output<(typeof contract.shortestPath)['reply']>

/** Of one search: so many entities are reached, and so many connections read for one step. */
const MAX_REACHED = 5000
const MAX_EDGES = 5000

/**
 * A shortest way between two entities of one namespace, the first of the namespaces that has one. The search
 * goes from both ends at once, a query for each step from the smaller side. Throws `not_found` when an end
 * is in none of the namespaces.
 */
export async function shortestPath(
  deps: BrowseDeps,
  { from, to, max_depth: maxDepth, ...request }: Input,
): Promise<Reply> {
  const { namespaces, reader } = await placeOf(deps, request)
  const known = new Set<string>()
  let isTruncated = false
  for (const namespace of namespaces) {
    const seen = await selectSeenKeys(deps.sql, namespace.id, reader, [from, to])
    for (const key of seen) known.add(key)
    if (!seen.includes(from) || !seen.includes(to)) continue
    const search = new Search(deps.sql, namespace, reader)
    const edges = await search.between(from, to, maxDepth)
    isTruncated ||= search.isTruncated
    if (edges) return await shownPath(deps.sql, { namespace, reader, from, edges })
  }
  for (const key of [from, to]) if (!known.has(key)) throw nodeNotFound(key)
  return { found: false, nodes: [], edges: [], truncated: isTruncated }
}

interface Way {
  namespace: NamespaceRow
  reader: Reader
  from: string
  edges: readonly EdgeRow[]
}

async function shownPath(sql: Sql, { namespace, reader, from, edges }: Way): Promise<Reply> {
  const keys = [from]
  for (const { subject, object } of edges) keys.push(keys.at(-1) === subject ? object : subject)
  const nodes = await nodesByKey(sql, namespace, { reader, keys })
  return {
    found: true,
    nodes: keys.flatMap((key) => nodes.get(key) ?? []),
    edges: edges.map((row) => edgeOf(namespace.namespace, row)),
    truncated: false,
  }
}

/** How each entity of one side was reached; the end itself by nothing. */
type Reached = Map<string, EdgeRow | null>

interface Side {
  reached: Reached
  frontier: string[]
}

/** One search in one namespace. */
class Search {
  readonly #sql: Sql
  readonly #namespace: NamespaceRow
  readonly #reader: Reader
  isTruncated = false

  constructor(sql: Sql, namespace: NamespaceRow, reader: Reader) {
    this.#sql = sql
    this.#namespace = namespace
    this.#reader = reader
  }

  /** The edges of a shortest way in their order, none when both ends are one; undefined without a way. */
  async between(from: string, to: string, maxDepth: number): Promise<EdgeRow[] | undefined> {
    if (from === to) return []
    const sides: [Side, Side] = [sideAt(from), sideAt(to)]
    for (let depth = 0; depth < maxDepth; depth += 1) {
      const [a, b] = sides
      const isFirst = a.frontier.length <= b.frontier.length
      const [near, far] = isFirst ? [a, b] : [b, a]
      if (near.frontier.length === 0) return undefined
      const meeting = await this.#step(near, far.reached)
      if (meeting !== undefined) {
        return [...back(a.reached, meeting).toReversed(), ...back(b.reached, meeting)]
      }
      if (a.reached.size + b.reached.size > MAX_REACHED) {
        this.isTruncated = true
        return undefined
      }
    }
    return undefined
  }

  /** Goes one step on; answers an entity that the other side has reached as well. */
  async #step(side: Side, other: Reached): Promise<string | undefined> {
    const edges = await selectEdges(this.#sql, this.#namespace.id, this.#reader, {
      keys: side.frontier,
      direction: 'both',
      limit: MAX_EDGES,
    })
    if (edges.length === MAX_EDGES) this.isTruncated = true
    const before = new Set(side.frontier)
    side.frontier = []
    for (const edge of edges) {
      for (const [here, there] of [
        [edge.subject, edge.object],
        [edge.object, edge.subject],
      ] as const) {
        if (!before.has(here) || side.reached.has(there)) continue
        side.reached.set(there, edge)
        side.frontier.push(there)
      }
    }
    return side.frontier.find((key) => other.has(key))
  }
}

function sideAt(key: string): Side {
  return { reached: new Map([[key, null]]), frontier: [key] }
}

/** The edges from an entity back to the end of its side. */
function back(reached: Reached, key: string): EdgeRow[] {
  const edges: EdgeRow[] = []
  let at = key
  for (let edge = reached.get(at); edge; edge = reached.get(at)) {
    edges.push(edge)
    at = edge.subject === at ? edge.object : edge.subject
  }
  return edges
}
