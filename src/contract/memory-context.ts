import { z } from 'zod'
import {
  ActorRef,
  AllowedScopes,
  FreeForm,
  Moment,
  NamespaceName,
  NodeType,
  PiiMasked,
  ReadScope,
  ScopeRef,
} from './memory-common.ts'
import { route } from './route.ts'

export const ITEM_KINDS = ['observation', 'chunk', 'fact', 'entity'] as const

/** The sections of a pack, in their order; each is always there. */
export const SECTION_KINDS = [
  'current',
  'relevant_facts',
  'episodes',
  'documents',
  'related_entities',
  'recent_observations',
] as const
export type SectionKind = (typeof SECTION_KINDS)[number]

/** `hybrid`, `context` and the empty text are all channels together. */
export const MEMORY_STRATEGIES = [
  'semantic',
  'exact',
  'graph',
  'briefing',
  'hybrid',
  'context',
  '',
] as const
export type MemoryStrategy = (typeof MEMORY_STRATEGIES)[number]

/** Any text at all is a query. */
export const QueryText = z.string().max(20_000).default('')

/** What every read may say about where, for whom and for which moment it reads. */
export const reading = {
  scope: ReadScope.optional(),
  /** What the question is about, as scopes: items about something else are left out. */
  scopes: z.array(ScopeRef).max(10).default([]),
  /** Narrows what the caller may read; null and absent leave it as it is, an empty list leaves nothing. */
  allowed_namespaces: z.array(NamespaceName).max(500).nullish(),
  allowed_scopes: AllowedScopes,
  /** The moment of the world to answer for; now when absent. */
  as_of: Moment.nullish(),
  /** Answer as one would have then: nothing learnt later. */
  known_at: Moment.nullish(),
}

export const ContextBody = z.strictObject({
  ...reading,
  query: QueryText,
  subject: ActorRef.nullish(),
  /** Keys of entities to start from, such as `service:payments`. */
  anchors: z.array(z.string().min(1).max(300)).max(40).default([]),
  /** The caller's own state, shown first and never stored. */
  ephemeral_context: FreeForm.nullish(),
  /** Size of the pack in tokens; 0 and absent are the service's default. */
  max_tokens: z.int().min(0).max(1_000_000).optional(),
  budget: z.strictObject({ tokens: z.int().min(0).max(1_000_000).optional() }).optional(),
  strategy: z.enum(MEMORY_STRATEGIES).nullish(),
  /** How many items a channel is expected to need. */
  k: z.int().min(1).max(100).default(8),
})
export type ContextBody = z.output<typeof ContextBody>

const PackItem = z.strictObject({
  kind: z.string(),
  id: z.string(),
  text: z.string(),
  title: z.string().nullable(),
  source_path: z.string().nullable(),
  score: z.number(),
  /** Why it is here: channels with their ranks, parts of the score, bonuses, warnings. */
  signals: FreeForm,
  provenance: FreeForm,
  token_estimate: z.int(),
  conflict: z.literal(true).optional(),
  conflicts_with: z.array(z.string()).optional(),
})
export type PackItem = z.output<typeof PackItem>

/** Where something of an answer can be read up. */
export const Source = z.strictObject({
  source_path: z.string().nullable(),
  node_key: z.string().nullable(),
  title: z.string().nullable(),
})

const Excluded = z.strictObject({
  id: z.string(),
  kind: z.string(),
  /** budget, below rank, `duplicate of X`, `superseded by X`, `lifecycle of X`, `beside X`. */
  reason: z.string(),
  score: z.number(),
})

export const ContextPack = z
  .strictObject({
    query: z.string(),
    sections: z.array(z.strictObject({ kind: z.enum(SECTION_KINDS), items: z.array(PackItem) })),
    sources: z.array(Source),
    token_estimate: z.int(),
    budget: z.strictObject({
      max_tokens: z.int(),
      dropped: z.array(Excluded),
      truncated: z.boolean(),
    }),
    /** Ids of facts in the pack that contradict another in it. */
    conflicts: z.array(z.string()),
    warnings: z.array(z.string()),
    trace_id: z.string(),
    pii_masked: PiiMasked,
    stats: z.strictObject({
      candidates: z.int(),
      selected: z.int(),
      channels: z.record(z.string(), z.int()),
      identifiers: z.array(z.string()),
      resolved: z.array(
        z.strictObject({
          input: z.string(),
          matched_by: z.string().nullable(),
          keys: z.array(z.string()),
          truncated: z.boolean(),
        }),
      ),
      engine: z.string(),
      latencies_ms: z.record(z.string(), z.number()),
    }),
  })
  .meta({ id: 'ContextPack' })
export type ContextPack = z.output<typeof ContextPack>

export const buildContext = route({
  method: 'POST',
  path: '/api/memory/context',
  summary: 'Compile what is useful now about a question into a pack of a given size',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  errors: ['permission_denied'],
  body: ContextBody,
  reply: ContextPack,
})

export const readTrace = route({
  method: 'GET',
  path: '/api/memory/context/trace/{id}',
  summary: 'Read how a pack came about: the request, every candidate and what became of it',
  tag: 'Memory',
  access: 'authenticated',
  errors: ['permission_denied', 'not_found'],
  params: z.strictObject({ id: z.string().max(64) }),
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  reply: z.looseObject({ trace_id: z.string() }),
})

export const SearchBody = z.strictObject({
  ...reading,
  query: QueryText,
  /** How many hits; `filters.limit` is another name for it. */
  k: z.int().min(1).max(200).optional(),
  filters: z
    .strictObject({
      limit: z.int().min(1).max(200).optional(),
      /** Only chunks, or listed entities, whose `meta` contains this. */
      meta: FreeForm.optional(),
      /** Lists the entities and documents of this type by key instead of ranking; `query` is not looked at. */
      type: NodeType.optional(),
    })
    .optional(),
  kinds: z.array(z.enum(ITEM_KINDS)).min(1).max(4).optional(),
})
export type SearchBody = z.output<typeof SearchBody>

export const SearchHit = z.strictObject({
  kind: z.enum(ITEM_KINDS),
  id: z.string(),
  score: z.number(),
  text: z.string(),
  title: z.string().nullable(),
  node_key: z.string().nullable(),
  chunk_order: z.int().nullable(),
  source: z
    .strictObject({
      system: z.string().nullable(),
      stream: z.string().nullable(),
      external_id: z.string().nullable(),
    })
    .nullable(),
  signals: FreeForm,
})
export type SearchHit = z.output<typeof SearchHit>

export const search = route({
  method: 'POST',
  path: '/api/brain/search',
  summary: 'Rank chunks, observations, facts and entities together for a question',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  errors: ['permission_denied'],
  body: SearchBody,
  reply: z.strictObject({
    hits: z.array(SearchHit),
    engine: z.string(),
    pii_masked: PiiMasked,
  }),
})

export const routes = { buildContext, readTrace, search }
