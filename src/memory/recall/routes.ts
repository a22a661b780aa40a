import type { Hono } from 'hono'
import { buildContext, readTrace, search } from '#contract/memory-context.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { buildContext as build } from '../compile/build-context.ts'
import { readTrace as traceOf } from '../compile/read-trace.ts'
import { traceQueue } from '../compile/trace-queue.ts'
import { search as find } from '../search.ts'
import { serveMemory } from '../serve-memory.ts'
import type { MemoryDeps } from '../serve-memory.ts'

export function bindRecall(
  app: Hono,
  api: Api<MemoryCtx>,
  { db, log, settings }: MemoryDeps,
): void {
  const { defaultNamespace, contextDefaultMaxTokens: defaultTokens } = settings
  const traces = traceQueue(db, log)

  serveMemory(app, api, buildContext, (ctx, { body }) =>
    build(db, ctx, body, { defaultNamespace, defaultTokens, traces }),
  )

  serveMemory(app, api, readTrace, (ctx, { params: { id }, query }) =>
    traceOf(db, ctx, { id, namespace: query.namespace ?? defaultNamespace }),
  )

  serveMemory(app, api, search, (ctx, { body }) => find(db, ctx, { body, defaultNamespace }))
}
