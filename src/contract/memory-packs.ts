import { z } from 'zod'
import { FreeForm, NamespaceName, label } from './memory-common.ts'
import { route } from './route.ts'

const tag = 'Packs'

/** A kind of entity or of relation, as packs name it. */
export const KindName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be lower-case letters, digits and _')

const PackName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, dots, _ and -')

const Version = z
  .union([z.string(), z.number().transform(String)])
  .pipe(
    z.string().regex(/^[0-9A-Za-z][0-9A-Za-z.+-]{0,31}$/, 'must be letters, digits, dots, + and -'),
  )

const Template = z.string().min(1).max(300)

const Kind = z.strictObject({
  kind: KindName,
  description: z.string().max(2000).optional(),
  /** A template such as `file:<repo>:<path>`, or a schema of the key. */
  naturalKey: z.union([Template, FreeForm]).optional(),
  /** Templates of further names, filled from attributes and from the parts of the key. */
  aliases: z.array(Template).max(20).default([]),
  /** Other words for the kind. */
  kindAliases: z.array(label(64)).max(20).default([]),
  /**
   * RE2 patterns of its identifiers in a text; the group `id` is the identifier, else the match. Checked
   * and kept; search and anchors recognise identifiers by their general shapes so far.
   */
  idPatterns: z.array(z.string().min(1).max(300)).max(10).default([]),
  /** A schema of its attributes; unknown keywords are notes. */
  attributes: FreeForm.optional(),
  /** The attributes meant for search. Checked and kept; the text of all of them is searched so far. */
  searchable: z.strictObject({ fields: z.array(label(200)).max(20) }).optional(),
  /** Sources whose word counts most, the first before the second. */
  sourcePriority: z.array(label(200)).max(50).default([]),
})
export type KindDeclaration = z.output<typeof Kind>

const Relation = z.strictObject({
  relation: KindName,
  description: z.string().max(2000).optional(),
  /** Kinds that it may lead from and to; none named is any. */
  fromKinds: z.array(KindName).max(200).default([]),
  toKinds: z.array(KindName).max(200).default([]),
  /** False for what holds without time. */
  temporal: z.boolean().default(true),
  /** Whether a subject has at most one such relation at a time. */
  cardinality: z.enum(['one', 'many']).default('many'),
})
export type RelationDeclaration = z.output<typeof Relation>

/** A pack of kinds and relations of a domain. A version never changes. */
export const Manifest = z.strictObject({
  name: PackName,
  version: Version,
  description: z.string().max(2000).optional(),
  kinds: z.array(Kind).max(200).default([]),
  relations: z.array(Relation).max(400).default([]),
})
export type Manifest = z.output<typeof Manifest>
export type ManifestInput = z.input<typeof Manifest>

const PACK_SCOPES = ['shared', 'tenant'] as const

const Pack = z.strictObject({
  ...Manifest.shape,
  scope: z.enum(PACK_SCOPES),
  /** What settings and snapshots call this version: `name@version` or `tenant:name@version`. */
  ref: z.string(),
  /** The namespace that a tenant's pack belongs to. */
  namespace: z.string().nullable(),
  contentHash: z.string(),
  createdAt: z.string(),
})
export type Pack = z.output<typeof Pack>

export const registerPack = route({
  method: 'POST',
  path: '/api/memory/packages',
  summary: 'Register a version of a pack; the same again changes nothing',
  tag,
  access: 'authenticated',
  idempotencyKey: 'none',
  statuses: [201, 200],
  errors: [
    'permission_denied',
    'pack_version_conflict',
    'pack_name_conflict',
    'kind_conflict',
    'relation_conflict',
  ],
  body: z.strictObject({
    ...Manifest.shape,
    scope: z.enum(PACK_SCOPES).default('shared'),
    /** Owner of a tenant's pack. */
    namespace: NamespaceName.optional(),
  }),
  reply: z.strictObject({
    ...Pack.shape,
    /** False for a repeat, which changed nothing. */
    created: z.boolean(),
  }),
})

const PackRef = z
  .string()
  .regex(
    /^(?:tenant:)?[a-z0-9][a-z0-9._-]{0,63}(?:@[0-9A-Za-z][0-9A-Za-z.+-]{0,31})?$/,
    'must be name, name@version or tenant:name@version',
  )

export const listPacks = route({
  method: 'GET',
  path: '/api/memory/packages',
  summary: 'Packs that a namespace can use, with their versions, newest first',
  tag,
  access: 'authenticated',
  errors: ['permission_denied'],
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  reply: z.strictObject({
    packages: z.array(
      z.strictObject({
        name: z.string(),
        scope: z.enum(PACK_SCOPES),
        description: z.string().nullable(),
        versions: z.array(z.string()),
      }),
    ),
  }),
})

export const getPack = route({
  method: 'GET',
  path: '/api/memory/packages/{ref}',
  summary: 'One version of a pack; without a version the newest',
  tag,
  access: 'authenticated',
  errors: ['permission_denied', 'not_found'],
  params: z.strictObject({ ref: PackRef }),
  query: z.strictObject({ namespace: NamespaceName.optional() }),
  reply: Pack,
})

const Settings = z.strictObject({
  /** Whether writes outside the packs are refused. */
  strict: z.boolean(),
  /** Packs in use, the first counts most; null leaves a snapshot free to name any shared pack. */
  packages: z.array(z.string()).nullable(),
})

const Overshadowed = z.strictObject({
  kind: z.string().optional(),
  kindAlias: z.string().optional(),
  relation: z.string().optional(),
  /** Whose declaration counts, and whose does not. */
  pack: z.string(),
  overshadowed: z.string(),
})

const NamespaceKinds = z.strictObject({
  namespace: z.string(),
  settings: Settings,
  catalog: z.strictObject({
    packages: z.array(z.string()),
    kinds: z.array(z.strictObject({ ...Kind.shape, pack: z.string() })),
    relations: z.array(z.strictObject({ ...Relation.shape, pack: z.string() })),
    conflicts: z.array(Overshadowed),
  }),
})
export type NamespaceKinds = z.output<typeof NamespaceKinds>

const namespaceKinds = {
  path: '/api/memory/namespaces/{ns}/kinds',
  tag,
  access: 'authenticated',
  params: z.strictObject({ ns: NamespaceName }),
  reply: NamespaceKinds,
} as const

export const putNamespaceKinds = route({
  ...namespaceKinds,
  method: 'PUT',
  summary: 'Choose the packs of a namespace and whether nothing else is accepted',
  idempotencyKey: 'none',
  errors: ['permission_denied', 'not_found'],
  body: z.strictObject({
    strict: z.boolean().default(false),
    packages: z.array(PackRef).max(50).nullable().default(null),
  }),
})

export const getNamespaceKinds = route({
  ...namespaceKinds,
  method: 'GET',
  summary: 'The packs of a namespace, and the kinds and relations they declare together',
  errors: ['permission_denied'],
})

export const routes = { registerPack, listPacks, getPack, putNamespaceKinds, getNamespaceKinds }
