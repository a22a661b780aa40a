import type { Hono, MiddlewareHandler } from 'hono'
import { baseApp } from '#http/app.ts'
import { createTurns } from '#lib/turns.ts'
import type { Envelope } from '#http/app.ts'
import type { Api } from '#http/serve.ts'
import type { Route } from '#contract/route.ts'
import type { Caller, MemoryCtx } from './access/caller.ts'
import { callers } from './access/token-caller.ts'
import { bindBrowse } from './browse/routes.ts'
import { createIndexCache } from './index/index-cache.ts'
import { createIndexes } from './index/indexes.ts'
import { bindErasure } from './erase/routes.ts'
import { createPackCache } from './packs/pack-cache.ts'
import { bindPacks } from './packs/routes.ts'
import { createMeaning } from './vectors/meaning.ts'
import { bindRecall } from './recall/routes.ts'
import { bindBrain } from './brain/routes.ts'
import { bindKnowledge } from './knowledge/routes.ts'
import { protectReply } from './pii/protect.ts'
import { bindMemory } from './routes.ts'
import type { MemoryDeps } from './serve-memory.ts'
import { toSnakeCase } from './wire.ts'

/** The memory service: its own API over its own database. It answers whatever the process around it. */
export function createMemoryApp(deps: MemoryDeps): Hono {
  const { settings, log, watch, embedder, reranking } = deps
  const indexBytes = settings.indexMemoryMb * 1_048_576
  const app = baseApp(log, memoryEnvelope, watch)
  if (settings.serverTiming) app.use(timed)
  const api = apiOf(deps, callers(settings, deps.db))
  const parts = {
    ...deps,
    readers: createTurns({ each: 4, all: 8 }),
    indexes: createIndexes({
      budgetBytes: indexBytes,
      log,
      meter: deps.indexMeter,
      cache: settings.cacheFolder ? createIndexCache(settings.cacheFolder, { log }) : undefined,
    }),
    packs: createPackCache(),
    reranking,
    meaning: embedder && createMeaning(embedder, indexBytes),
    writers: createTurns({ each: 1, all: Math.ceil(deps.db.options.max / 2) }),
  }
  bindMemory(app, api, parts)
  bindKnowledge(app, api, parts)
  bindRecall(app, api, parts)
  bindErasure(app, api, parts)
  bindPacks(app, api, parts)
  bindBrain(app, api, parts)
  bindBrowse(app, api, parts)
  return app
}

/** Says how long the answer took here; source: W3C Server Timing, section 3. */
const timed: MiddlewareHandler = async (c, next) => {
  const started = performance.now()
  await next()
  c.header('Server-Timing', `app;dur=${(performance.now() - started).toFixed(2)}`)
}

function apiOf(
  { db, settings }: MemoryDeps,
  identify: (request: Request) => Promise<Caller>,
): Api<MemoryCtx> {
  return {
    limits: {
      defaultBytes: settings.maxBodyBytes,
      knowledgeBytes: settings.maxKnowledgeBytes,
    },
    authorize: async (request, route, { requestId, traceRunId }) => {
      const caller = route.access === 'public' ? ANYBODY : await identify(request)
      const isGiven = request.headers.get('x-run-id') === traceRunId
      return {
        caller,
        requestId,
        runId: traceRunId,
        ...(isGiven && { givenRunId: traceRunId }),
        touched: new Set(),
        signal: request.signal,
      }
    },
    // Tenants are the control plane's; memory knows namespaces and the names of its keys.
    identity: ({ caller }) => ({ tenantId: null, principal: caller.label }),
    rename: toSnakeCase,
    checkReplies: settings.checkReplies,
    ...(settings.piiProtection === true && {
      finish: (ctx: MemoryCtx, route: Route, reply: unknown) =>
        protectReply(db, ctx, { route, reply }),
    }),
  }
}

const ANYBODY: Caller = { label: 'anybody', grants: [], service: false, pii: false }

/** `{detail}`, with the code and particulars beside it; of a pack that clashes `detail` has its code too. */
const memoryEnvelope: Envelope = ({ code, message, details }, { requestId }) => ({
  ...details,
  detail: CLASHES.has(code) ? { code, message } : message,
  code,
  request_id: requestId,
})

const CLASHES: ReadonlySet<string> = new Set([
  'pack_name_conflict',
  'kind_conflict',
  'relation_conflict',
])
