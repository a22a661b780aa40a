import type { ReconcileBody } from '#contract/memory-reconcile.ts'
import { AppError } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { sha256 } from '#lib/id.ts'

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
 * Reads a whole snapshot before anything is written. Throws `invalid_request` for too many items, an
 * entity without a key, or something said twice.
 */
export function readSnapshot(body: ReconcileBody, maxItems: number): Snapshot {
  const { entities, relations } = body
  if (entities.length + relations.length > maxItems) {
    throw invalid('entities', `must be at most ${maxItems} together with relations`)
  }
  const states = entities.map((entity, index) => entityState(entity, index, body.scopes))
  const links = relations.map((relation) => relationState(relation, body.scopes))
  requireDistinct(states.map(entityId), 'entities')
  requireDistinct(
    links.map(({ identity }) => identity),
    'relations',
  )
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

function entityState(
  entity: ReconcileBody['entities'][number],
  index: number,
  scopes: readonly string[],
): EntityState {
  const { kind, key } = entity
  if (key === undefined) throw invalid(`entities.${index}.key`, 'is needed')
  const said = {
    title: entity.title?.trim() ? entity.title : key,
    attributes: entity.attributes ?? {},
    aliases: [...new Set(entity.aliases)],
    scopes: [...scopes],
    provenance: entity.provenance ?? null,
    sourcePath: entity.source_path ?? entity.url ?? null,
  }
  const order = { aliases: said.aliases.toSorted(), scopes: scopes.toSorted() }
  return { kind, key, ...said, contentHash: shortHash({ ...said, ...order }) }
}

function relationState(
  { relation, from, to, ...rest }: ReconcileBody['relations'][number],
  scopes: readonly string[],
): RelationState {
  const said = {
    attributes: rest.attributes ?? {},
    scopes: [...scopes],
    provenance: rest.provenance ?? null,
  }
  return {
    identity: sha256([relation, from.kind, from.key, to.kind, to.key].join('\u001f')).slice(0, 40),
    relation,
    fromKind: from.kind,
    fromKey: from.key,
    toKind: to.kind,
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
