import { z } from 'zod'
import {
  AllowedScopes,
  FreeForm,
  Moment,
  NamespaceName,
  ReadScope,
  ScopeRef,
  label,
} from './memory-common.ts'
import { Source } from './memory-context.ts'
import { Where } from './memory-where.ts'
import { route } from './route.ts'

/** How an anchor was matched, in the order the ways are tried. */
export const ANCHOR_METHODS = [
  'natural_key',
  'alias',
  'id_pattern',
  'normalized',
  'suffix',
  'semantic',
] as const
export type AnchorMethod = (typeof ANCHOR_METHODS)[number]

export const EVIDENCE = ['asserted', 'extracted', 'inferred', 'derived'] as const

const Step = z.strictObject({
  /** A relation in any spelling: `depends on` and `DEPENDS_ON` are one. */
  relation: label(200),
  direction: z.enum(['in', 'out', 'both']).default('out'),
  depth: z.int().min(1).max(5).default(1),
  /** New entities that the step may bring. */
  limit: z.int().min(1).max(200).default(20),
  /** Where it starts: at the anchors, or at what the step before it reached. */
  from: z.enum(['anchors', 'previous']).default('anchors'),
  where: Where.default([]),
})

export const TypedBody = z.strictObject({
  scope: ReadScope.optional(),
  /** What the question is about: what is about something else is not followed. */
  scopes: z.array(ScopeRef).max(10).default([]),
  anchors: z
    .array(
      z.strictObject({
        kind: label(64).nullish(),
        /** A key, an alias, an identifier, or with `allow_semantic` any description. */
        value: z.string().min(1).max(2000),
      }),
    )
    .min(1)
    .max(20),
  traverse: z.array(Step).max(10).default([]),
  /** Conditions on what an anchor may stand for. */
  where: Where.default([]),
  /** Whether an anchor that nothing is called by may stand for what is most like it. */
  allow_semantic: z.boolean().default(false),
  semantic_k: z.int().min(1).max(10).default(3),
  as_of: Moment.nullish(),
  known_at: Moment.nullish(),
  allowed_namespaces: z.array(NamespaceName).max(500).nullish(),
  allowed_scopes: AllowedScopes,
})
export type TypedBody = z.output<typeof TypedBody>

const Named = z.strictObject({ kind: z.string(), key: z.string(), namespace: z.string() })

const Anchor = z.strictObject({
  input: z.strictObject({ kind: z.string().nullable(), value: z.string() }),
  resolved: z.array(
    Named.extend({
      evidence: z.enum(EVIDENCE),
      /** Of a semantic match: how well, and whether by the entity or by a text of it. */
      score: z.number().optional(),
      matchedOn: z.enum(['entity', 'chunk']).optional(),
    }),
  ),
  matchedBy: z.enum(ANCHOR_METHODS).nullable(),
  /** Several things answer to a name that is not the key of one; all of them are used. */
  ambiguous: z.literal(true).optional(),
  candidates: z.array(Named).optional(),
  /** How many the conditions ruled out. */
  filtered: z.int().optional(),
  /** More matched than are told. */
  truncated: z.literal(true).optional(),
})

const Entity = Named.extend({
  title: z.string(),
  attributes: FreeForm,
  aliases: z.array(z.string()),
  source_path: z.string().nullable(),
  provenance: FreeForm.nullable(),
  valid_from: z.string(),
  valid_to: z.string().nullable(),
  /** The weakest evidence on the way to it. */
  evidence: z.enum(EVIDENCE),
  anchor: z.literal(true).optional(),
  /** Named by facts only: nobody has described it. */
  placeholder: z.literal(true).optional(),
  /** What in it reads like an order. */
  suspicious: z.array(z.string()).optional(),
})

const End = z.strictObject({ kind: z.string(), key: z.string() })

const SnapshotRef = z.strictObject({
  source: z.string(),
  scope: z.string(),
  snapshot_id: z.string(),
})

const Fact = z.strictObject({
  fact_id: z.string(),
  namespace: z.string(),
  relation: z.string(),
  subject: End,
  object: End,
  valid_from: z.string().nullable(),
  valid_to: z.string().nullable(),
  evidence: z.enum(EVIDENCE),
  confidence: z.number(),
  attributes: FreeForm,
  source_path: z.string().nullable(),
  supersedes: z.string().nullable(),
  snapshot: SnapshotRef.nullable(),
})

const StepStats = z.strictObject({
  relation: z.string(),
  direction: z.string(),
  from: z.string(),
  /** New entities and facts that it brought. */
  entities: z.int(),
  facts: z.int(),
  /** Ruled out by its conditions. */
  filtered: z.int(),
  /** Whether there was more to follow than its limit lets it. */
  truncated: z.boolean(),
})

export const TypedPack = z
  .strictObject({
    as_of: z.string(),
    known_at: z.string().nullable(),
    namespaces: z.array(z.string()),
    anchors: z.array(Anchor),
    /** Anchors that stand for nothing. */
    unresolved: z.array(z.strictObject({ kind: z.string().nullable(), value: z.string() })),
    /** One for each kind found, sorted by it. */
    sections: z.array(z.strictObject({ kind: z.string(), items: z.array(Entity) })),
    facts: z.array(Fact),
    /** What the answer rests on. */
    used: z.strictObject({
      entities: z.array(Named),
      facts: z.array(z.string()),
      snapshots: z.array(SnapshotRef),
    }),
    sources: z.array(Source),
    warnings: z.array(z.string()),
    trace_id: z.string(),
    stats: z.strictObject({
      entities: z.int(),
      facts: z.int(),
      steps: z.array(StepStats),
      latency_ms: z.number(),
    }),
  })
  .meta({ id: 'TypedPack' })
export type TypedPack = z.output<typeof TypedPack>

export const traverseTyped = route({
  method: 'POST',
  path: '/api/memory/context/typed',
  summary: 'Follow relations from what is named, step by step, as they were at a moment',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  errors: ['permission_denied'],
  body: TypedBody,
  reply: TypedPack,
})

export const routes = { traverseTyped }
