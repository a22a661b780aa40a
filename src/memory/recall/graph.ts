import type { Sql } from '#db/sql.ts'
import { selectEdgesAt, selectNodeItems } from './graph.sql.ts'
import type { EdgeRow } from './graph.sql.ts'
import type { Hit } from './fuse.ts'
import type { Reference } from './load-items.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import type { Reader } from './reader.ts'

const MAX_EDGES = 120
const MAX_NODES = 60
/** A neighbour's neighbour says less. */
const HOP_STRENGTH = [1, 0.5] as const

/** What stands around the given entities of one namespace. */
export interface Surroundings {
  facts: (Hit & Reference)[]
  nodes: (Hit & Reference & { hops: number })[]
}

export interface Around {
  /** Keys to start from. */
  seeds: readonly string[]
  /** Facts told at most. */
  maxFacts: number
  /** 1 or 2, as far as nothing else is said. */
  hops?: number
  /** Entities told at most. */
  maxNodes?: number
}

/**
 * Facts at the seeds, and entities up to two hops away over any edge. Two queries a hop, whatever the
 * size of the graph; hubs are cut at the best supported and newest 120 edges.
 */
export async function surroundingsOf(
  sql: Sql,
  namespace: NamespaceRow,
  reader: Reader,
  { seeds, maxFacts, hops = HOP_STRENGTH.length, maxNodes = MAX_NODES }: Around,
): Promise<Surroundings> {
  const facts: Surroundings['facts'] = []
  const reaches = new Map<string, Reach>()
  const seen = new Set(seeds)
  let frontier: readonly string[] = seeds
  for (const [hop, strength] of HOP_STRENGTH.slice(0, hops).entries()) {
    if (frontier.length === 0 || reaches.size >= maxNodes) break
    const edges = await selectEdgesAt(sql, namespace.id, reader, {
      keys: frontier,
      limit: MAX_EDGES,
    })
    if (hop === 0) facts.push(...factsOf(namespace, edges, maxFacts))
    const reached = edges
      .flatMap(({ subject, object, confidence }) => [
        { key: subject, strength: strength * confidence },
        { key: object, strength: strength * confidence },
      ])
      .filter(({ key }) => !seen.has(key))
      .slice(0, maxNodes - reaches.size)
    for (const { key, strength: reach } of reached) {
      const known = reaches.get(key)
      if (known === undefined || known.strength < reach) {
        reaches.set(key, { strength: reach, hops: hop + 1 })
      }
    }
    frontier = reached.map(({ key }) => key)
    for (const key of frontier) seen.add(key)
  }
  return { facts, nodes: await nodesOf(sql, namespace, reader, reaches) }
}

/** How an entity was reached. */
interface Reach {
  strength: number
  hops: number
}

function factsOf(
  namespace: NamespaceRow,
  edges: readonly EdgeRow[],
  maxFacts: number,
): Surroundings['facts'] {
  return edges
    .filter(({ factId }) => factId !== null)
    .slice(0, maxFacts)
    .map(({ item, confidence }, place) => ({
      key: `${namespace.id}:${item}`,
      namespace,
      item,
      kind: 'fact',
      strength: confidence * (1 - place / (2 * maxFacts)),
    }))
}

async function nodesOf(
  sql: Sql,
  namespace: NamespaceRow,
  reader: Reader,
  reaches: ReadonlyMap<string, Reach>,
): Promise<Surroundings['nodes']> {
  if (reaches.size === 0) return []
  const rows = await selectNodeItems(sql, namespace.id, reader, [...reaches.keys()])
  return rows
    .map(({ item, key }) => ({
      key: `${namespace.id}:${item}`,
      namespace,
      item,
      kind: 'entity' as const,
      ...(reaches.get(key) ?? { strength: 0, hops: 0 }),
    }))
    .toSorted((a, b) => b.strength - a.strength)
}
