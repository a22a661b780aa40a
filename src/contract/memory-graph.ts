import { z } from 'zod'
import { FreeForm, NodeKey, NodeType, label } from './memory-common.ts'
import { reading } from './memory-context.ts'
import { route } from './route.ts'

/** What says where and at which moment a point of the graph is read; what it is about is its key. */
const { scopes: _, ...place } = reading

const read = {
  method: 'POST',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
} as const

export const DIRECTIONS = ['in', 'out', 'both'] as const

export const GraphNode = z
  .strictObject({
    namespace: z.string(),
    key: z.string(),
    kind: z.string(),
    title: z.string(),
    /** What it says: its content, else its title. */
    text: z.string(),
    /** Names of what in the text reads like an instruction; absent for ordinary text. */
    suspicious: z.array(z.string()).optional(),
    properties: FreeForm,
    aliases: z.array(z.string()),
    source_path: z.string().nullable(),
    confidence: z.number().nullable(),
    /** True for an end of a fact that nobody has described yet. */
    placeholder: z.boolean(),
    valid_from: z.string(),
    valid_to: z.string().nullable(),
  })
  .meta({ id: 'GraphNode' })
export type GraphNode = z.output<typeof GraphNode>

export const GraphEdge = z
  .strictObject({
    namespace: z.string(),
    /** Null for a link that is no fact. */
    fact_id: z.string().nullable(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    attributes: FreeForm,
    evidence: z.string(),
    confidence: z.number(),
    source_path: z.string().nullable(),
    valid_from: z.string().nullable(),
    valid_to: z.string().nullable(),
  })
  .meta({ id: 'GraphEdge' })
export type GraphEdge = z.output<typeof GraphEdge>

export const getNode = route({
  ...read,
  path: '/api/brain/node',
  summary:
    'Read an entity or document by its key: one node for each namespace and type that has it',
  errors: ['permission_denied', 'not_found'],
  body: z.strictObject({ ...place, key: NodeKey, kind: NodeType.optional() }),
  reply: z.strictObject({ nodes: z.array(GraphNode) }),
})

export const getNeighbors = route({
  ...read,
  path: '/api/brain/neighbors',
  summary: 'Read what an entity is connected to, the best supported and newest connections first',
  errors: ['permission_denied', 'not_found'],
  body: z.strictObject({
    ...place,
    key: NodeKey,
    direction: z.enum(DIRECTIONS).default('both'),
    /** Only these relations; all when absent. */
    predicates: z.array(label(128)).min(1).max(50).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  reply: z.strictObject({
    neighbors: z.array(
      z.strictObject({ direction: z.enum(['in', 'out']), edge: GraphEdge, node: GraphNode }),
    ),
    /** There are more than the limit. */
    truncated: z.boolean(),
  }),
})

export const shortestPath = route({
  ...read,
  path: '/api/brain/path',
  summary: 'Find a shortest way between two entities over connections of any direction',
  errors: ['permission_denied', 'not_found'],
  body: z.strictObject({
    ...place,
    from: NodeKey,
    to: NodeKey,
    max_depth: z.int().min(1).max(8).default(5),
  }),
  reply: z.strictObject({
    found: z.boolean(),
    /** From one end to the other; empty when there is no way of that length. */
    nodes: z.array(GraphNode),
    edges: z.array(GraphEdge),
    /** The search met its bound on entities, so a way may exist that was not found. */
    truncated: z.boolean(),
  }),
})

export const getCommunity = route({
  ...read,
  path: '/api/brain/community',
  summary:
    'Read the group of entities around one that are more connected to each other than to the rest',
  errors: ['permission_denied', 'not_found'],
  body: z.strictObject({ ...place, key: NodeKey, limit: z.int().min(2).max(200).default(50) }),
  reply: z.strictObject({
    /** The closest to the entity first, itself included. */
    nodes: z.array(GraphNode),
    edges: z.array(GraphEdge),
    /** Share of the group's connections that lead out of it, 0 to 1; low is a clear group. */
    conductance: z.number(),
    truncated: z.boolean(),
  }),
})

export const routes = { getNode, getNeighbors, shortestPath, getCommunity }
