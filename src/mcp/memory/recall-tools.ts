import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { call } from '#client/client.ts'
import { ITEM_KINDS, buildContext, search } from '#contract/memory-context.ts'
import type { ContextPack } from '#contract/memory-context.ts'
import { recordObservation } from '#contract/memory.ts'
import { fenced } from '../fenced.ts'
import { tool } from '../tool.ts'
import type { Tool } from '../tool.ts'
import { Namespace, scopeOf } from './backend.ts'
import type { Backend } from './backend.ts'
import { hitLine, packLine } from './lines.ts'

const Query = z.string().max(20_000)
const Anchors = z
  .array(z.string().min(1).max(300))
  .max(40)
  .optional()
  .describe('Keys of entities to start from, such as service:payments')
const MaxTokens = z.int().min(100).max(100_000).optional().describe('Size of the answer in tokens')
const AsOf = z.string().max(40).optional().describe('Answer as of this moment (ISO 8601)')

export const RECALL_TOOLS: readonly Tool<Backend>[] = [
  tool({
    name: 'build_context',
    title: 'Build context',
    description:
      'Compile what memory knows that helps with a question or task into one pack: facts, documents, entities, recent observations.',
    readOnly: true,
    input: z.strictObject({
      query: Query.describe('The question or task, in plain words'),
      anchors: Anchors,
      max_tokens: MaxTokens,
      as_of: AsOf,
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, ...ask }, signal) => {
      const body = { ...ask, ...scopeOf(backend, namespace) }
      return shownPack(await call(backend.client, buildContext, { body, signal }))
    },
  }),
  tool({
    name: 'query_graph',
    title: 'Query the graph',
    description:
      'Answer a question from the graph alone: entities that the question or the anchors name, their facts, and what is around them.',
    readOnly: true,
    input: z.strictObject({
      question: Query.describe('Names the entities it is about, by key, alias or identifier'),
      anchors: Anchors,
      max_tokens: MaxTokens,
      as_of: AsOf,
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, question: query, ...ask }, signal) => {
      const body = { ...ask, query, strategy: 'graph' as const, ...scopeOf(backend, namespace) }
      return shownPack(await call(backend.client, buildContext, { body, signal }))
    },
  }),
  tool({
    name: 'search',
    title: 'Search memory',
    description: 'Rank observations, chunks of documents, facts and entities for a question.',
    readOnly: true,
    input: z.strictObject({
      query: Query,
      limit: z.int().min(1).max(50).default(10),
      kinds: z.array(z.enum(ITEM_KINDS)).min(1).max(4).optional(),
      as_of: AsOf,
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, limit: k, ...ask }, signal) => {
      const body = { ...ask, k, ...scopeOf(backend, namespace) }
      const { hits } = await call(backend.client, search, { body, signal })
      return fenced(hits.map(hitLine))
    },
  }),
  tool({
    name: 'remember_observation',
    title: 'Remember an observation',
    description:
      'Record for good what was decided, found or observed, so that people and other agents recall it. Never secrets.',
    readOnly: false,
    input: z.strictObject({
      content: z.string().min(1).max(100_000).describe('What is to be remembered, self-contained'),
      kind: z
        .string()
        .max(128)
        .default('finding')
        .describe('finding, decision, constraint, question, note or a word of your own'),
      subject: z
        .strictObject({ type: z.string().max(64), id: z.string().max(256) })
        .optional()
        .describe('What it is about'),
      scopes: z
        .array(z.string().max(256))
        .max(20)
        .optional()
        .describe('type:id of what it concerns; workspace: and principal: limit who sees it'),
      occurred_at: AsOf.describe('When it happened (ISO 8601); now when left out'),
      assertions: z
        .array(z.record(z.string(), z.unknown()))
        .max(200)
        .optional()
        .describe(
          'Facts and entities it states: {"assert":"fact","fact":{"subject","predicate","object"}} or {"assert":"entity","entity":{"key","type","title","properties"}}',
        ),
      dedup_key: z
        .string()
        .max(200)
        .regex(/^\S+$/)
        .optional()
        .describe('The same key records once, however often the call is repeated'),
      namespace: Namespace,
    }),
    run: async (backend: Backend, { namespace, dedup_key: key, ...observation }, signal) => {
      const body = {
        ...observation,
        source: { system: 'mcp', external_id: key ?? randomUUID() },
        ...scopeOf(backend, namespace),
      }
      const recorded = await call(backend.client, recordObservation, { body, signal })
      return JSON.stringify(recorded, null, 2)
    },
  }),
]

function shownPack({ sections, trace_id: trace, budget, warnings }: ContextPack): string {
  const lines = sections.flatMap(({ kind, items }) => items.map((item) => packLine(kind, item)))
  const dropped = budget.dropped.filter(({ reason }) => reason === 'budget').length
  return fenced(lines, [
    ...(dropped > 0
      ? [`Left out for lack of room: ${dropped}. Ask with a larger max_tokens.`]
      : []),
    ...warnings.map((warning) => `Warning: ${warning}`),
    `Trace: ${trace}`,
  ])
}
