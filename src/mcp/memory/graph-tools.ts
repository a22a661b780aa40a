import { z } from 'zod'
import { call } from '#client/client.ts'
import {
  DIRECTIONS,
  getCommunity,
  getNeighbors,
  getNode,
  shortestPath,
} from '#contract/memory-graph.ts'
import { fenced } from '../fenced.ts'
import { tool } from '../tool.ts'
import type { Tool } from '../tool.ts'
import { Namespace, scopeOf } from './backend.ts'
import type { Backend } from './backend.ts'
import { edgeLine, nodeLine, shortNode } from './lines.ts'

const Key = z.string().min(1).max(512).describe('The exact key, such as service:payments')
const MORE = 'There is more than is shown.'

export const GRAPH_TOOLS: readonly Tool<Backend>[] = [
  tool({
    name: 'get_node',
    title: 'Get a node',
    description: 'Read an entity or document by its key: title, text, properties, aliases.',
    readOnly: true,
    input: z.strictObject({ key: Key, namespace: Namespace }),
    run: async (backend: Backend, { key, namespace }, signal) => {
      const body = { key, ...scopeOf(backend, namespace) }
      const { nodes } = await call(backend.client, getNode, { body, signal })
      return fenced(nodes.map(nodeLine))
    },
  }),
  tool({
    name: 'get_neighbors',
    title: 'Get neighbours',
    description: 'Read what an entity is connected to, with the facts that connect them.',
    readOnly: true,
    input: z.strictObject({
      key: Key,
      direction: z.enum(DIRECTIONS).default('both'),
      relations: z.array(z.string().min(1).max(128)).min(1).max(50).optional(),
      limit: z.int().min(1).max(200).default(30),
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, relations, ...ask }, signal) => {
      const predicates = relations?.map((name) => name.toUpperCase())
      const body = { ...ask, ...(predicates && { predicates }), ...scopeOf(backend, namespace) }
      const { neighbors, truncated } = await call(backend.client, getNeighbors, { body, signal })
      const lines = neighbors.flatMap(({ edge, node }) => [edgeLine(edge), shortNode(node)])
      return fenced(lines, truncated ? [MORE] : [])
    },
  }),
  tool({
    name: 'shortest_path',
    title: 'Shortest path',
    description: 'Find how two entities are connected, over as few facts as possible.',
    readOnly: true,
    input: z.strictObject({
      from: Key,
      to: Key,
      max_depth: z.int().min(1).max(8).default(5),
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, ...ask }, signal) => {
      const body = { ...ask, ...scopeOf(backend, namespace) }
      const path = await call(backend.client, shortestPath, { body, signal })
      if (!path.found)
        return path.truncated ? `No path was found; ${MORE}` : 'There is no such path.'
      const lines = path.nodes.flatMap((node, index) => {
        const edge = path.edges[index]
        return [shortNode(node), ...(edge ? [edgeLine(edge)] : [])]
      })
      return fenced(lines)
    },
  }),
  tool({
    name: 'get_community',
    title: 'Get the community of a node',
    description: 'Read the group of entities around one that belong together.',
    readOnly: true,
    input: z.strictObject({
      key: Key,
      limit: z.int().min(2).max(200).default(30),
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, ...ask }, signal) => {
      const body = { ...ask, ...scopeOf(backend, namespace) }
      const found = await call(backend.client, getCommunity, { body, signal })
      const lines = [...found.nodes.map(shortNode), ...found.edges.map(edgeLine)]
      return fenced(lines, [
        `Conductance: ${found.conductance}`,
        ...(found.truncated ? [MORE] : []),
      ])
    },
  }),
]
