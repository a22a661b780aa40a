import type { z } from 'zod'
import type * as contract from '#contract/memory-graph.ts'
import type { Sql } from '#db/sql.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { Reader } from '../recall/reader.ts'
import { selectEdges, selectSeenKeys } from './browse.sql.ts'
import type { EdgeRow } from './browse.sql.ts'
import { localCommunity } from './local-community.ts'
import { nodeNotFound, nodesByKey, placeOf } from './read-nodes.ts'
import type { BrowseDeps } from './read-nodes.ts'
import { edgeOf } from './shown-graph.ts'

type Input = z.output<(typeof contract.getCommunity)['body']>
type Reply = z.output<(typeof contract.getCommunity)['reply']>

/** What is looked at around the entity: steps away, entities, connections for a step. */
const HOPS = 3
const MAX_KEYS = 1000
const MAX_EDGES = 3000
const MAX_SHOWN_EDGES = 500

/**
 * The group around an entity, in the first of the namespaces that has it. Only a bounded part of the graph
 * around it is looked at. Throws `not_found` when it is in none.
 */
export async function readCommunity(
  deps: BrowseDeps,
  { key, limit, ...request }: Input,
): Promise<Reply> {
  const { sql } = deps
  const { namespaces, reader } = await placeOf(deps, request)
  for (const namespace of namespaces) {
    const seen = await selectSeenKeys(sql, namespace.id, reader, [key])
    if (seen.length === 0) continue
    const around = await surroundings(sql, { namespace, reader }, key)
    const { keys, conductance } = localCommunity(adjacencyOf(around.edges), key, limit)
    const inside = new Set(keys)
    const edges = around.edges.filter(
      ({ subject, object }) => inside.has(subject) && inside.has(object),
    )
    const nodes = await nodesByKey(sql, namespace, { reader, keys })
    return {
      nodes: keys.flatMap((one) => nodes.get(one) ?? []),
      edges: edges.slice(0, MAX_SHOWN_EDGES).map((row) => edgeOf(namespace.namespace, row)),
      conductance,
      truncated: around.isTruncated || edges.length > MAX_SHOWN_EDGES,
    }
  }
  throw nodeNotFound(key)
}

async function surroundings(
  sql: Sql,
  { namespace, reader }: { namespace: NamespaceRow; reader: Reader },
  key: string,
): Promise<{ edges: EdgeRow[]; isTruncated: boolean }> {
  const edges = new Map<string, EdgeRow>()
  const seen = new Set([key])
  let frontier = [key]
  let isTruncated = false
  for (let hop = 0; hop < HOPS && frontier.length > 0; hop += 1) {
    const wish = { keys: frontier, direction: 'both', limit: MAX_EDGES } as const
    const rows = await selectEdges(sql, namespace.id, reader, wish)
    isTruncated ||= rows.length === MAX_EDGES
    frontier = []
    for (const row of rows) {
      edges.set(row.item, row)
      for (const end of [row.subject, row.object]) {
        if (seen.has(end)) continue
        if (seen.size >= MAX_KEYS) isTruncated = true
        else {
          seen.add(end)
          frontier.push(end)
        }
      }
    }
  }
  return { edges: [...edges.values()], isTruncated }
}

function adjacencyOf(edges: readonly EdgeRow[]): Map<string, string[]> {
  const graph = new Map<string, string[]>()
  const join = (from: string, to: string) => {
    const known = graph.get(from)
    if (known) known.push(to)
    else graph.set(from, [to])
  }
  for (const { subject, object } of edges) {
    join(subject, object)
    join(object, subject)
  }
  return graph
}
