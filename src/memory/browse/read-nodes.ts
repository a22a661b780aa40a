import type { z } from 'zod'
import type * as contract from '#contract/memory-graph.ts'
import type { GraphNode } from '#contract/memory-graph.ts'
import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import type { MemoryCtx } from '../access/caller.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { readScopeOf } from '../recall/read-scope.ts'
import type { ReadRequest, ReadScope } from '../recall/read-scope.ts'
import { selectEdges, selectNodesByKey } from './browse.sql.ts'
import { edgeOf, nodeOf } from './shown-graph.ts'

type Input<R extends 'getNode' | 'getNeighbors'> = z.output<(typeof contract)[R]['body']>
type Reply<R extends 'getNode' | 'getNeighbors'> = z.output<(typeof contract)[R]['reply']>

export interface BrowseDeps {
  sql: Sql
  ctx: MemoryCtx
  defaultNamespace: string
}

/** Where a point of the graph is read. */
export async function placeOf(
  { sql, ctx, defaultNamespace }: BrowseDeps,
  request: Omit<ReadRequest, 'scopes'>,
): Promise<ReadScope> {
  return await readScopeOf(sql, ctx, { ...request, scopes: [] }, defaultNamespace)
}

/** Throws `not_found`, whether a key is nowhere or out of sight. */
export function nodeNotFound(key: string): AppError {
  return new AppError('not_found', `Cannot find node "${key}"`)
}

/** The nodes of one key. Throws `not_found` when there is none in sight. */
export async function readNode(
  deps: BrowseDeps,
  { key, kind, ...request }: Input<'getNode'>,
): Promise<Reply<'getNode'>> {
  const { namespaces, reader } = await placeOf(deps, request)
  const nodes: GraphNode[] = []
  for (const { id, namespace } of namespaces) {
    const rows = await selectNodesByKey(deps.sql, id, reader, [key])
    nodes.push(
      ...rows
        .filter((row) => kind === undefined || row.kind === kind)
        .map((row) => nodeOf(namespace, row)),
    )
  }
  if (nodes.length === 0) throw nodeNotFound(key)
  return { nodes }
}

/** What a node is connected to in each namespace that has it. Throws `not_found` as above. */
export async function readNeighbors(
  deps: BrowseDeps,
  { key, direction, predicates, limit, ...request }: Input<'getNeighbors'>,
): Promise<Reply<'getNeighbors'>> {
  const { namespaces, reader } = await placeOf(deps, request)
  const neighbors: Reply<'getNeighbors'>['neighbors'] = []
  let isKnown = false
  for (const { id, namespace } of namespaces) {
    const seen = await selectNodesByKey(deps.sql, id, reader, [key])
    if (seen.length === 0) continue
    isKnown = true
    const wish = { keys: [key], direction, predicates, limit: limit + 1 }
    const rows = await selectEdges(deps.sql, id, reader, wish)
    const others = rows.map(({ subject, object }) => (subject === key ? object : subject))
    const nodes = await nodesByKey(deps.sql, { id, namespace }, { reader, keys: others })
    neighbors.push(
      ...rows.flatMap((row) => {
        const isOut = row.subject === key && direction !== 'in'
        const node = nodes.get(isOut ? row.object : row.subject)
        const edge = edgeOf(namespace, row)
        return node ? [{ direction: isOut ? ('out' as const) : ('in' as const), edge, node }] : []
      }),
    )
  }
  if (!isKnown) throw nodeNotFound(key)
  return { neighbors: neighbors.slice(0, limit), truncated: neighbors.length > limit }
}

/** One node for each key, the described one where several types share it. */
export async function nodesByKey(
  sql: Sql,
  { id, namespace }: Pick<NamespaceRow, 'id' | 'namespace'>,
  { reader, keys }: Pick<ReadScope, 'reader'> & { keys: readonly string[] },
): Promise<Map<string, GraphNode>> {
  const found = new Map<string, GraphNode>()
  if (keys.length === 0) return found
  for (const row of await selectNodesByKey(sql, id, reader, [...new Set(keys)])) {
    if (!found.has(row.key)) found.set(row.key, nodeOf(namespace, row))
  }
  return found
}
