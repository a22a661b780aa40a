/** An undirected graph by its keys: who is connected to whom, one entry for each connection. */
export type Adjacency = ReadonlyMap<string, readonly string[]>

export interface Community {
  /** The closest to the seed first, the seed itself included. */
  keys: string[]
  /** Share of the group's ends of connections that lead out of it. */
  conductance: number
}

/** Chance to jump back to the seed, and the mass too small to be spread on. */
const TELEPORT = 0.15
const EPSILON = 1e-5
/** Where more leads out than stays inside there is no group, and all that is near is shown. */
const MAX_CONDUCTANCE = 0.5

/**
 * The group of at most `limit` keys around a seed that the fewest connections leave for its size: approximate
 * personalised PageRank, and the best prefix of its order by conductance. Deterministic. Source: Andersen,
 * Chung, Lang, Local graph partitioning using PageRank vectors (FOCS 2006), algorithms of sections 3 and 4.
 */
export function localCommunity(graph: Adjacency, seed: string, limit: number): Community {
  const rank = approximatePageRank(graph, seed)
  const near = [...rank]
    .map(([key, mass]) => ({ key, nearness: mass / degreeOf(graph, key) }))
    .toSorted((a, b) => b.nearness - a.nearness || (a.key < b.key ? -1 : 1))
    .map(({ key }) => key)
  return bestPrefix(graph, [seed, ...near.filter((key) => key !== seed)].slice(0, limit))
}

function approximatePageRank(graph: Adjacency, seed: string): Map<string, number> {
  const rank = new Map<string, number>()
  const residual = new Map([[seed, 1]])
  const queue = [seed]
  for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
    const mass = residual.get(key) ?? 0
    const degree = degreeOf(graph, key)
    if (mass < EPSILON * degree) continue
    rank.set(key, (rank.get(key) ?? 0) + TELEPORT * mass)
    const kept = ((1 - TELEPORT) * mass) / 2
    residual.set(key, kept)
    if (kept >= EPSILON * degree) queue.push(key)
    for (const other of graph.get(key) ?? []) {
      const before = residual.get(other) ?? 0
      const after = before + kept / degree
      residual.set(other, after)
      const bound = EPSILON * degreeOf(graph, other)
      if (before < bound && after >= bound) queue.push(other)
    }
  }
  return rank
}

function bestPrefix(graph: Adjacency, order: readonly string[]): Community {
  const total = [...graph.values()].reduce((sum, { length }) => sum + length, 0)
  const inside = new Set<string>()
  let [volume, cut] = [0, 0]
  let best: { size: number; conductance: number } | undefined
  for (const key of order) {
    const neighbours = graph.get(key) ?? []
    const kept = neighbours.filter((other) => inside.has(other)).length
    const loops = neighbours.filter((other) => other === key).length
    inside.add(key)
    volume += neighbours.length
    cut += neighbours.length - 2 * kept - loops
    // All that was looked at is no group beside others.
    const smaller = Math.min(volume, total - volume)
    if (inside.size < 2 || smaller <= 0) continue
    const conductance = cut / smaller
    if (conductance < (best?.conductance ?? MAX_CONDUCTANCE))
      best = { size: inside.size, conductance }
  }
  const { size, conductance } = best ?? { size: order.length, conductance: cut === 0 ? 0 : 1 }
  return { keys: order.slice(0, size), conductance: Number(conductance.toFixed(6)) }
}

function degreeOf(graph: Adjacency, key: string): number {
  return Math.max(1, graph.get(key)?.length ?? 0)
}
