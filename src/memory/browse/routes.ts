import type { Hono } from 'hono'
import { getCommunity, getNeighbors, getNode, shortestPath } from '#contract/memory-graph.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'
import { readCommunity } from './read-community.ts'
import { readNeighbors, readNode } from './read-nodes.ts'
import { shortestPath as findPath } from './shortest-path.ts'

/** Point reads of the graph. */
export function bindBrowse(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db: sql, settings } = parts
  const depsOf = (ctx: MemoryCtx) => ({ sql, ctx, defaultNamespace: settings.defaultNamespace })
  serveMemory(app, api, getNode, (ctx, { body }) => readNode(depsOf(ctx), body))
  serveMemory(app, api, getNeighbors, (ctx, { body }) => readNeighbors(depsOf(ctx), body))
  serveMemory(app, api, shortestPath, (ctx, { body }) => findPath(depsOf(ctx), body))
  serveMemory(app, api, getCommunity, (ctx, { body }) => readCommunity(depsOf(ctx), body))
}
