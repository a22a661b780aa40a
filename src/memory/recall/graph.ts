import type { Sql } from '#db/sql.ts'
import { selectEdgesAt, selectNodeItems } from './graph.sql.ts'
import type { EdgeRow } from './graph.sql.ts'
import type { Hit } from './fuse.ts'
import type { Reference } from './load-items.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import type { Reader } from './reader.ts'

const MAX_EDGES = 120
const MAX_NODES = 60
const MAX_FACTS = 32
/** A neighbour's neighbour says less. */
const HOP_STRENGTH = [1, 0.5] as const

/** What stands around the given entities of one namespace. */
export interface Surroundings {
  facts: (Hit & Reference)[]
  nodes: (Hit & Reference)[]
}

/**
 * Facts at the seeds, and entities up to two hops away over any edge. Two queries a hop, whatever the
 * size of the graph; hubs are cut at the best supported and newest 120 edges.
 */
export async function surroundingsOf(
  sql: Sql,
  namespace: NamespaceRow,
  reader: Reader,
  seeds: readonly string[],
): Promise<Surroundings> {
  const facts: Surroundings['facts'] = []
  const strengths = new Map<string, number>()
  const seen = new Set(seeds)
  let frontier: readonly string[] = seeds
  for (const strength of HOP_STRENGTH) {
    if (frontier.length === 0 || strengths.size >= MAX_NODES) break
    const edges = await selectEdgesAt(sql, namespace.id, reader, {
      keys: frontier,
      limit: MAX_EDGES,
    })
    if (strength === HOP_STRENGTH[0]) facts.push(...factsOf(namespace, edges))
    const reached = edges
      .flatMap(({ subject, object, confidence }) => [
        { key: subject, strength: strength * confidence },
        { key: object, strength: strength * confidence },
      ])
      .filter(({ key }) => !seen.has(key))
      .slice(0, MAX_NODES - strengths.size)
    for (const { key, strength: reach } of reached) {
      strengths.set(key, Math.max(reach, strengths.get(key) ?? 0))
    }
    frontier = reached.map(({ key }) => key)
    for (const key of frontier) seen.add(key)
  }
  return { facts, nodes: await nodesOf(sql, namespace, reader, strengths) }
}

function factsOf(namespace: NamespaceRow, edges: readonly EdgeRow[]): Surroundings['facts'] {
  return edges
    .filter(({ factId }) => factId !== null)
    .slice(0, MAX_FACTS)
    .map(({ item, confidence }, place) => ({
      key: `${namespace.id}:${item}`,
      namespace,
      item,
      kind: 'fact',
      strength: confidence * (1 - place / (2 * MAX_FACTS)),
    }))
}

async function nodesOf(
  sql: Sql,
  namespace: NamespaceRow,
  reader: Reader,
  strengths: ReadonlyMap<string, number>,
): Promise<Surroundings['nodes']> {
  if (strengths.size === 0) return []
  const rows = await selectNodeItems(sql, namespace.id, reader, [...strengths.keys()])
  return rows
    .map(({ item, key }) => ({
      key: `${namespace.id}:${item}`,
      namespace,
      item,
      kind: 'entity' as const,
      strength: strengths.get(key) ?? 0,
    }))
    .toSorted((a, b) => b.strength - a.strength)
}
