import type { Hono } from 'hono'
import { askMemory, diagnose, recallMemory } from '#contract/memory-ask.ts'
import { buildContext, readTrace, search } from '#contract/memory-context.ts'
import type { ContextBody } from '#contract/memory-context.ts'
import { traverseTyped } from '#contract/memory-typed.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { buildContext as build } from '../compile/build-context.ts'
import { diagnose as whyAndWhyNot } from '../compile/diagnose.ts'
import { readTrace as traceOf } from '../compile/read-trace.ts'
import { traceQueue } from '../compile/trace-queue.ts'
import { search as find } from '../search.ts'
import { traverse } from '../typed/traverse.ts'
import { answersBy } from './answer-in-words.ts'
import { askMemoryFor, recallMemoryFor } from './ask.ts'
import { inTurn, serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'

export function bindRecall(
  app: Hono,
  api: Api<MemoryCtx>,
  { db, log, settings, readers, indexes, meaning, reranking }: MemoryParts,
): void {
  const { defaultNamespace, contextDefaultMaxTokens: defaultTokens } = settings
  const traces = traceQueue(db, log)
  const context = { defaultNamespace, defaultTokens, traces, indexes, meaning, reranking }
  const asking = {
    defaultNamespace,
    indexes,
    synthesizes: settings.synthesizesByDefault,
    answerInWords:
      settings.llm &&
      answersBy(settings.llm, (error) => log.error('Cannot answer in words', error)),
  }

  const nameOf = ({ scope }: Pick<ContextBody, 'scope'>) =>
    scope?.namespace ?? scope?.namespaces?.[0] ?? defaultNamespace

  serveMemory(app, api, buildContext, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () => build(db, ctx, body, context)),
  )

  serveMemory(app, api, diagnose, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () => whyAndWhyNot(db, ctx, body, context)),
  )

  serveMemory(app, api, askMemory, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () => askMemoryFor(db, ctx, body, asking)),
  )

  serveMemory(app, api, recallMemory, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () => recallMemoryFor(db, ctx, body, asking)),
  )

  serveMemory(app, api, traverseTyped, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () =>
      traverse(db, ctx, body, { defaultNamespace, traces, indexes, meaning }),
    ),
  )

  serveMemory(app, api, readTrace, (ctx, { params: { id }, query }) =>
    traceOf(db, ctx, { id, namespace: query.namespace ?? defaultNamespace }),
  )

  serveMemory(app, api, search, (ctx, { body }) =>
    inTurn(readers, ctx, nameOf(body), () =>
      find(db, ctx, { body, defaultNamespace, indexes, meaning, reranking }),
    ),
  )
}
