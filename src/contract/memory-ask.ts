import { z } from 'zod'
import { FreeForm, NodeType } from './memory-common.ts'
import { ContextBody, QueryText, SearchHit, Source, reading } from './memory-context.ts'
import { route } from './route.ts'

const read = {
  method: 'POST',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  errors: ['permission_denied'],
} as const

/** What narrows an answer to texts of some kind; applied before anything is counted or cut. */
const Filters = z.strictObject({
  /** Only chunks whose `meta` contains this. */
  meta: FreeForm.optional(),
  /** Only chunks of documents of this type. */
  type: NodeType.optional(),
})

/** An entity near what was found. */
const Neighbour = z.strictObject({
  kind: z.string(),
  key: z.string(),
  title: z.string().nullable(),
  text: z.string(),
  /** How many relations away. */
  hops: z.int(),
  source_path: z.string().nullable(),
})

const found = {
  query: z.string(),
  neighbours: z.array(Neighbour),
  sources: z.array(Source),
  engine: z.string(),
}

const asking = {
  ...reading,
  query: QueryText,
  /** How far the entities around what was found are told; 0 tells none. */
  hops: z.int().min(0).max(2).default(1),
  filters: Filters.optional(),
}

export const AskBody = z.strictObject({
  ...asking,
  k: z.int().min(1).max(50).default(8),
  /** Whether a language model puts an answer into words; the service's default when absent. */
  synthesize: z.boolean().optional(),
})
export type AskBody = z.output<typeof AskBody>

export const askMemory = route({
  ...read,
  path: '/api/brain/query',
  summary:
    'Find what answers a question, with its surroundings, and an answer in words if a model is configured',
  body: AskBody,
  reply: z.strictObject({
    ...found,
    hits: z.array(SearchHit),
    /** Null where no model is configured or asked. */
    answer: z.string().nullable(),
    warnings: z.array(z.string()),
  }),
})

export const RECALL_BUDGETS = ['low', 'mid', 'high'] as const

export const RecallBody = z.strictObject({
  ...asking,
  /** 4, 8 or 16 fragments. */
  budget: z.enum(RECALL_BUDGETS).default('mid'),
})
export type RecallBody = z.output<typeof RecallBody>

export const recallMemory = route({
  ...read,
  path: '/api/brain/recall',
  summary: 'Recall the few fragments that matter most to a question',
  body: RecallBody,
  reply: z.strictObject({
    ...found,
    budget: z.enum(RECALL_BUDGETS),
    fragments: z.array(SearchHit),
  }),
})

/** Why something is not in an answer. `unknown` is what is not there and what may not be seen alike. */
export const DIAGNOSES = [
  'returned',
  'unknown',
  'not true then',
  'not known then',
  'about something else',
  'says nothing',
  'not found',
  'below rank',
  'duplicate',
  'lifecycle',
  'beside',
  'superseded',
  'budget',
] as const

export const DiagnoseBody = ContextBody.extend({
  /** As shown: `obs-…`, `chunk:<n>`, `fact-…`, `node:<key>`. */
  id: z.string().min(1).max(600),
})
export type DiagnoseBody = z.output<typeof DiagnoseBody>

export const diagnose = route({
  ...read,
  path: '/api/memory/diagnose',
  summary: 'Tell why something is or is not in the answer to a question',
  body: DiagnoseBody,
  reply: z.strictObject({
    id: z.string(),
    diagnosis: z.enum(DIAGNOSES),
    /** One sentence for a person. */
    explanation: z.string(),
    /** Place in the ranking, from 1, and how many were ranked. */
    rank: z.int().nullable(),
    candidates: z.int(),
    score: z.number().nullable(),
    /** Score of the last item that was shown. */
    last_score: z.number().nullable(),
    signals: FreeForm,
    /** Terms of the question as they are searched for, and those of them that the item holds. */
    terms: z.strictObject({ asked: z.array(z.string()), held: z.array(z.string()) }),
    /** When it held and when that was learnt. */
    validity: z
      .strictObject({
        valid_from: z.string().nullable(),
        valid_to: z.string().nullable(),
        ingested_at: z.string(),
      })
      .nullable(),
    engine: z.string(),
  }),
})

export const routes = { askMemory, recallMemory, diagnose }
