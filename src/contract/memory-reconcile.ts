import { z } from 'zod'
import {
  AllowedScopes,
  FreeForm,
  ItemScopes,
  Moment,
  NamespaceName,
  NodeKey,
  ReadScope,
  label,
} from './memory-common.ts'
import { Where } from './memory-where.ts'
import { route } from './route.ts'

const name = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be lower-case letters, digits and _')

const EntityKey = z.strictObject({ kind: name, key: NodeKey })

const Attributes = FreeForm.refine(
  (attributes) => !RESERVED.some((key) => Object.hasOwn(attributes, key)),
  'must not hold aliases, snapshot, scopes or provenance',
)
const RESERVED = ['aliases', 'snapshot', 'scopes', 'provenance']

const Provenance = z.strictObject({
  repo: z.string().max(2048).optional(),
  sha: z.string().max(256).optional(),
  path: z.string().max(4096).optional(),
  line: z.int().min(0).optional(),
})

const Entity = z.strictObject({
  kind: name,
  key: NodeKey.optional(),
  title: z.string().max(2000).nullish(),
  attributes: Attributes.nullish(),
  aliases: z.array(label(300)).max(100).nullish(),
  provenance: Provenance.nullish(),
  source_path: z.string().max(2048).nullish(),
  url: z.string().max(2048).nullish(),
})
export type SnapshotEntity = z.output<typeof Entity>

const Relation = z.strictObject({
  relation: name,
  from: EntityKey,
  to: EntityKey,
  attributes: Attributes.nullish(),
  provenance: Provenance.nullish(),
})
export type SnapshotRelation = z.output<typeof Relation>

export const ReconcileBody = z.strictObject({
  namespace: NamespaceName.optional(),
  scopes: ItemScopes.default([]),
  allowed_scopes: AllowedScopes,
  pack: label(100).nullish(),
  source: label(200),
  scope: label(200),
  snapshot_id: label(200),
  observed_at: Moment,
  entities: z.array(Entity).default([]),
  relations: z.array(Relation).default([]),
  dry_run: z.boolean().default(false),
  /** The state the snapshot was prepared against. */
  expected_state: z.string().max(128).nullish(),
  /** Says that an empty snapshot is meant, not a source that could not be read. */
  allow_empty: z.boolean().default(false),
})
export type ReconcileBody = z.output<typeof ReconcileBody>

const counts = {
  opened: z.int(),
  closed: z.int(),
  unchanged: z.int(),
  superseded: z.int(),
}
const Changes = z.array(z.strictObject({ kind: z.string(), key: z.string() }))

export const Reconciled = z.strictObject({
  source: z.string(),
  scope: z.string(),
  namespace: z.string(),
  snapshot_id: z.string(),
  observed_at: z.string(),
  pack: z.string().nullable(),
  ...counts,
  entities: z.strictObject(counts),
  relations: z.strictObject({
    ...counts,
    /** Relations of this source that wait for an end. */
    pending: z.int(),
    /** Waiting relations that got both ends now. */
    resolved: z.int(),
    /** Waiting relations that were looked at again. */
    retried: z.int(),
  }),
  changes: z.strictObject({
    opened: Changes,
    changed: Changes,
    closed: Changes,
    limit: z.int(),
    truncated: z.boolean(),
  }),
  /** Entities of this snapshot that another source holds open. */
  conflicts: z.strictObject({
    items: z.array(
      z.strictObject({
        kind: z.string(),
        key: z.string(),
        source: z.string(),
        scope: z.string(),
      }),
    ),
    limit: z.int(),
    truncated: z.boolean(),
  }),
  duplicate: z.boolean(),
  /** Whether a repeat of the snapshot id came with another content; nothing was changed. */
  contentDiffers: z.boolean().optional(),
  dryRun: z.boolean(),
  stateToken: z.string(),
})
export type Reconciled = z.output<typeof Reconciled>

export const reconcile = route({
  method: 'POST',
  path: '/api/memory/reconcile',
  summary: 'Bring what is known of one source to the state of its full snapshot',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  bodyLimit: 'knowledge',
  errors: [
    'snapshot_stale',
    'snapshot_empty',
    'snapshot_invalid',
    'permission_denied',
    'request_too_large',
  ],
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  body: ReconcileBody,
  reply: Reconciled,
})

export const queryEntities = route({
  method: 'POST',
  path: '/api/memory/entities:query',
  summary: 'List entities by kind and attributes, as they were at a moment',
  tag: 'Memory',
  access: 'authenticated',
  idempotencyKey: 'none',
  errors: ['permission_denied'],
  body: z.strictObject({
    scope: ReadScope.optional(),
    namespaces: z.array(NamespaceName).min(1).max(50).optional(),
    kinds: z.array(label(64)).min(1).max(20),
    where: Where.default([]),
    as_of: Moment.nullish(),
    known_at: Moment.nullish(),
    limit: z.int().min(1).max(500).default(100),
    cursor: z.string().max(2048).nullish(),
    allowed_namespaces: z.array(NamespaceName).max(500).nullish(),
    allowed_scopes: AllowedScopes,
  }),
  reply: z.strictObject({
    items: z.array(
      z.strictObject({
        kind: z.string(),
        key: z.string(),
        namespace: z.string(),
        title: z.string(),
        attributes: FreeForm,
        aliases: z.array(z.string()),
        source_path: z.string().nullable(),
        provenance: FreeForm.nullable(),
        valid_from: z.string(),
        valid_to: z.string().nullable(),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
})

export const routes = { reconcile, queryEntities }
