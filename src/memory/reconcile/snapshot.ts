import { MAX_KEY_CHARS, NodeKey } from '#contract/memory-common.ts'
import type { ReconcileBody } from '#contract/memory-reconcile.ts'
import { AppError } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { sha256 } from '#lib/id.ts'
import { canonicalKind } from '../packs/catalog.ts'
import type { Catalog } from '../packs/catalog.ts'
import {
  builtAliases,
  builtKey,
  entityMisfits,
  relationMisfits,
  requireFitting,
} from '../packs/judge.ts'
import type { ItemMisfits } from '../packs/judge.ts'

/** What a source says about an entity, ready to be compared with what it said before. */
export interface EntityState {
  kind: string
  key: string
  title: string
  attributes: Record<string, unknown>
  aliases: string[]
  scopes: string[]
  provenance: Record<string, unknown> | null
  sourcePath: string | null
  contentHash: string
}

export interface RelationState {
  /** Hash of the relation and both ends: what stays the same when its attributes change. */
  identity: string
  relation: string
  fromKind: string
  fromKey: string
  toKind: string
  toKey: string
  attributes: Record<string, unknown>
  scopes: string[]
  provenance: Record<string, unknown> | null
  contentHash: string
}

export interface Snapshot {
  entities: EntityState[]
  relations: RelationState[]
  /** Of everything it says, whatever the order. */
  contentHash: string
}

/**
 * Reads a whole snapshot before anything is written, in the words of the namespace's packs: kinds by their
 * own names, keys that are missing and further names by their templates. Throws `invalid_request` for too
 * many items, an entity without a key, or something said twice, and `snapshot_invalid` for what a strict
 * namespace does not take.
 */
export function readSnapshot(body: ReconcileBody, maxItems: number, catalog: Catalog): Snapshot {
  const { entities, relations } = body
  if (entities.length + relations.length > maxItems) {
    throw invalid('entities', `must be at most ${maxItems} together with relations`)
  }
  const states = entities.map((entity, index) =>
    entityState(catalog, entity, { index, scopes: body.scopes }),
  )
  const links = relations.map((relation) => relationState(catalog, relation, body.scopes))
  requireDistinct(states.map(entityId), 'entities')
  requireDistinct(
    links.map(({ identity }) => identity),
    'relations',
  )
  if (catalog.strict) requireFitting('snapshot_invalid', misfitsOf(catalog, states, links))
  const contentHash = fingerprint(states, links)
  return { entities: states, relations: links, contentHash }
}

export function entityId({ kind, key }: { kind: string; key: string }): string {
  return `${kind}\u001f${key}`
}

interface OpenEntity {
  kind: string
  key: string
  contentHash: string
}

/** Names the state of a source: equal for the same open entities and relations in any order. */
export function stateToken(
  entities: readonly OpenEntity[],
  relations: readonly { identity: string; contentHash: string }[],
): string {
  return `st1-${fingerprint(entities, relations).slice(0, 40)}`
}

function fingerprint(
  entities: readonly OpenEntity[],
  relations: readonly { identity: string; contentHash: string }[],
): string {
  const lines = [
    ...entities.map((entity) => `e${entityId(entity)}\u001f${entity.contentHash}`),
    ...relations.map(({ identity, contentHash }) => `r${identity}\u001f${contentHash}`),
  ]
  return sha256(lines.toSorted((a, b) => (a < b ? -1 : 1)).join('\n'))
}

export interface Difference<T, O> {
  opened: T[]
  changed: T[]
  /** Open ones that the snapshot no longer names. */
  closed: O[]
  unchanged: number
}

/** What has to be done to bring the open versions of a source to a snapshot. */
export function difference<T extends { contentHash: string }, O extends { contentHash: string }>(
  open: ReadonlyMap<string, O>,
  wanted: readonly T[],
  idOf: (one: T) => string,
): Difference<T, O> {
  const result: Difference<T, O> = { opened: [], changed: [], closed: [], unchanged: 0 }
  const named = new Set<string>()
  for (const one of wanted) {
    const id = idOf(one)
    named.add(id)
    const before = open.get(id)
    if (!before) result.opened.push(one)
    else if (before.contentHash === one.contentHash) result.unchanged += 1
    else result.changed.push(one)
  }
  for (const [id, one] of open) if (!named.has(id)) result.closed.push(one)
  return result
}

function* misfitsOf(
  catalog: Catalog,
  entities: readonly EntityState[],
  relations: readonly RelationState[],
): Generator<ItemMisfits> {
  for (const [index, { kind, key, attributes }] of entities.entries()) {
    const misfits = entityMisfits(catalog, { kind, key, attributes })
    if (misfits.length > 0) yield { at: ['entities', String(index)], kind, key, misfits }
  }
  for (const [index, one] of relations.entries()) {
    const misfits = relationMisfits(catalog, one)
    const named = { kind: one.relation, key: one.fromKey }
    if (misfits.length > 0) yield { at: ['relations', String(index)], ...named, misfits }
  }
}

function entityState(
  catalog: Catalog,
  entity: ReconcileBody['entities'][number],
  { index, scopes }: { index: number; scopes: readonly string[] },
): EntityState {
  const kind = canonicalKind(catalog, entity.kind)
  const attributes = entity.attributes ?? {}
  const key = entity.key ?? keyOf(catalog, { kind, attributes, index })
  const aliases = [...(entity.aliases ?? []), ...builtAliases(catalog, { kind, key, attributes })]
  const said = {
    title: entity.title?.trim() ? entity.title : key,
    attributes,
    aliases: [...new Set(aliases)],
    scopes: [...scopes],
    provenance: entity.provenance ?? null,
    sourcePath: entity.source_path ?? entity.url ?? null,
  }
  const order = { aliases: said.aliases.toSorted(), scopes: scopes.toSorted() }
  return { kind, key, ...said, contentHash: shortHash({ ...said, ...order }) }
}

/** The key that the kind's template makes of the attributes. */
function keyOf(
  catalog: Catalog,
  { kind, attributes, index }: { kind: string; attributes: Attributes; index: number },
): string {
  const loc = `entities.${index}.key`
  const built = builtKey(catalog, kind, attributes)
  if (!built) throw invalid(loc, 'is needed')
  if (!built.ok) throw invalid(loc, `is needed, or the attribute ${built.missing} to make it of`)
  if (!NodeKey.safeParse(built.text).success) {
    throw invalid(loc, `made of attributes must be a key of 1 to ${MAX_KEY_CHARS} characters`)
  }
  return built.text
}

type Attributes = Readonly<Record<string, unknown>>

function relationState(
  catalog: Catalog,
  { relation, from, to, ...rest }: ReconcileBody['relations'][number],
  scopes: readonly string[],
): RelationState {
  const fromKind = canonicalKind(catalog, from.kind)
  const toKind = canonicalKind(catalog, to.kind)
  const said = {
    attributes: rest.attributes ?? {},
    scopes: [...scopes],
    provenance: rest.provenance ?? null,
  }
  return {
    identity: sha256([relation, fromKind, from.key, toKind, to.key].join('\u001f')).slice(0, 40),
    relation,
    fromKind,
    fromKey: from.key,
    toKind,
    toKey: to.key,
    ...said,
    contentHash: shortHash({ ...said, scopes: scopes.toSorted() }),
  }
}

function shortHash(value: unknown): string {
  return sha256(canonicalJson(value)).slice(0, 32)
}

function requireDistinct(ids: readonly string[], list: string): void {
  const seen = new Set<string>()
  for (const [index, id] of ids.entries()) {
    if (seen.has(id)) throw invalid(`${list}.${index}`, 'is said twice')
    seen.add(id)
  }
}

function invalid(loc: string, message: string): AppError {
  return new AppError('invalid_request', `Cannot read the snapshot: ${loc} ${message}`, {
    details: { errors: [{ loc: `body.${loc}`, message }] },
  })
}
