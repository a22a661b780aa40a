import type { z } from 'zod'
import { Reconciled } from '#contract/memory-reconcile.ts'
import type { ReconcileBody } from '#contract/memory-reconcile.ts'
import type { Database, Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { plainInstant } from '#lib/instant.ts'
import { foreign } from '../access/caller.ts'
import type { Writer } from '../access/caller.ts'
import type { Catalog } from '../packs/catalog.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { readSnapshotCatalog } from '../packs/resolve-packs.ts'
import { mayWrite } from '../prepare-observation.ts'
import { redacted } from '../redacted.ts'
import { selectConflicts } from '../store/snapshot-entity.sql.ts'
import {
  insertSnapshot,
  insertSource,
  selectSnapshot,
  selectSource,
  updateSource,
} from '../store/source.sql.ts'
import type { SnapshotRow, SourceRow } from '../store/source.sql.ts'
import { writeNamespace } from '../store/write.ts'
import type { Namespace } from '../store/write.ts'
import { applyEntities, compareEntities } from './reconcile-entities.ts'
import type { EntityDifference } from './reconcile-entities.ts'
import { applyRelations, compareRelations } from './reconcile-relations.ts'
import type { RelationDifference, RelationOutcome, RelationRun } from './reconcile-relations.ts'
import { readSnapshot, stateToken } from './snapshot.ts'
import type { Snapshot } from './snapshot.ts'

export interface ReconcileInput {
  namespace: string
  writer: Writer
  body: ReconcileBody
  maxItems: number
  /** How many changed entities and conflicts the answer names. */
  limit: number
}

/**
 * Brings what is known of one source to the state of its full snapshot, all or nothing: what differs is
 * closed and opened, what is missing closed, the rest left alone. The same snapshot id again answers
 * the counters it got. A dry run answers alike and leaves nothing behind.
 *
 * Throws `invalid_request`, `snapshot_stale` (another state than expected, or older than the newest
 * accepted), `snapshot_empty`, `snapshot_invalid`, `permission_denied`.
 */
export async function reconcile(
  db: Database,
  packs: PackCache,
  input: ReconcileInput,
): Promise<Reconciled> {
  const { namespace, writer, maxItems } = input
  const body = redacted(input.body)
  if (!mayWrite(writer, body.scopes)) throw foreign()
  const asked = { namespace, pack: body.pack ?? null }
  const { catalog, ref } = await readSnapshotCatalog(db, packs, asked)
  const snapshot = readSnapshot(body, maxItems, catalog)
  const work = { ...input, body: { ...body, pack: ref }, snapshot, catalog }
  try {
    return await writeNamespace(db, namespace, async (sql, ns) => {
      const result = await run(sql, ns, work)
      if (body.dry_run) throw new RolledBack(result)
      return result
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}

/** Carries the answer of a dry run out of its transaction, which it undoes. */
class RolledBack extends Error {
  override name = 'RolledBack'
  readonly result: Reconciled

  constructor(result: Reconciled) {
    super('A dry run was rolled back')
    this.result = result
  }
}

type Work = ReconcileInput & { snapshot: Snapshot; catalog: Catalog }

async function run(sql: Sql, namespace: Namespace, work: Work): Promise<Reconciled> {
  const { body } = work
  const { source, scope, snapshot_id: snapshotId } = body
  const empty = stateToken([], [])
  const known = await selectSource(sql, namespace.id, body)
  const before = known && (await selectSnapshot(sql, namespace.id, { ...known, snapshotId }))
  if (known && before) return repeated(work, known, before)
  requireCurrent(body, known ?? { sourceNo: 0, stateToken: empty, observedAt: null })
  const sourceNo =
    known?.sourceNo ?? (await insertSource(sql, namespace.id, { source, scope, stateToken: empty }))
  const context: RelationRun = {
    namespace,
    id: namespace.id,
    version: namespace.version,
    now: namespace.now,
    sourceNo,
    source,
    scope,
    snapshotId,
    at: body.observed_at,
    writer: work.writer.audience,
    catalog: work.catalog,
  }
  return await apply(sql, context, work)
}

async function apply(sql: Sql, context: RelationRun, work: Work): Promise<Reconciled> {
  const { body, snapshot, limit } = work
  const { entities, relations } = snapshot
  const { diff, wasEmpty } = await compareEntities(sql, context, entities)
  const links = await compareRelations(sql, context, relations)
  const isEmpty = entities.length + relations.length === 0
  if (isEmpty && !body.allow_empty && !(wasEmpty && links.wasEmpty)) throw emptied(body)
  const conflicts = await selectConflicts(sql, context.id, {
    sourceNo: context.sourceNo,
    ids: entities.map(({ kind, key }) => ({ kind, key })),
    limit: limit + 1,
  })
  await applyEntities(sql, context, diff)
  const outcome = await applyRelations(
    sql,
    context,
    links,
    entities.map(({ key }) => key),
  )
  const token = stateToken(entities, relations)
  context.namespace.touch()
  const counters = countersOf(diff, links, outcome)
  await insertSnapshot(sql, context, {
    sourceNo: context.sourceNo,
    snapshotId: context.snapshotId,
    contentHash: snapshot.contentHash,
    pack: body.pack ?? null,
    observedAt: context.at,
    counters,
  })
  await updateSource(sql, context.id, {
    sourceNo: context.sourceNo,
    stateToken: token,
    observedAt: context.at,
  })
  return {
    ...answerOf(work, counters, token),
    changes: changesOf(diff, limit),
    conflicts: {
      items: conflicts.slice(0, limit),
      limit,
      truncated: conflicts.length > limit,
    },
  }
}

const Counters = Reconciled.pick({
  opened: true,
  closed: true,
  unchanged: true,
  superseded: true,
  entities: true,
  relations: true,
})
type Counters = z.output<typeof Counters>

function countersOf(
  diff: EntityDifference,
  links: RelationDifference,
  outcome: RelationOutcome,
): Counters {
  const entities = countsOf(diff)
  const relations = countsOf(links)
  return {
    opened: entities.opened + relations.opened,
    closed: entities.closed + relations.closed,
    unchanged: entities.unchanged + relations.unchanged,
    superseded: entities.superseded + relations.superseded,
    entities,
    relations: { ...relations, ...outcome },
  }
}

/** A change counts as opened, closed and superseded. */
function countsOf(diff: EntityDifference | RelationDifference) {
  const superseded = diff.changed.length
  return {
    opened: diff.opened.length + superseded,
    closed: diff.closed.length + superseded,
    unchanged: diff.unchanged,
    superseded,
  }
}

function changesOf(diff: EntityDifference, limit: number): Reconciled['changes'] {
  const named = (list: readonly { kind: string; key: string }[], from: number) =>
    list.slice(0, Math.max(0, limit - from)).map(({ kind, key }) => ({ kind, key }))
  const { opened, changed, closed } = diff
  return {
    opened: named(opened, 0),
    changed: named(changed, opened.length),
    closed: named(closed, opened.length + changed.length),
    limit,
    truncated: opened.length + changed.length + closed.length > limit,
  }
}

function answerOf({ body, namespace, limit }: Work, counters: Counters, token: string): Reconciled {
  const { source, scope, snapshot_id: id, observed_at: at, pack, dry_run: dryRun } = body
  return {
    source,
    scope,
    namespace,
    snapshot_id: id,
    observed_at: plainInstant(at),
    pack: pack ?? null,
    ...counters,
    changes: { opened: [], changed: [], closed: [], limit, truncated: false },
    conflicts: { items: [], limit, truncated: false },
    duplicate: false,
    dryRun,
    stateToken: token,
  }
}

function repeated(work: Work, { stateToken: token }: SourceRow, row: SnapshotRow): Reconciled {
  return {
    ...answerOf(work, Counters.parse(row.counters), token),
    observed_at: plainInstant(row.observedAt),
    pack: row.pack,
    duplicate: true,
    ...(row.contentHash !== work.snapshot.contentHash && { contentDiffers: true }),
  }
}

function requireCurrent(body: ReconcileBody, { stateToken: token, observedAt }: SourceRow): void {
  const { expected_state: expected, observed_at: at } = body
  if (expected !== undefined && expected !== null && expected !== token) {
    throw stale(body, 'its state is another than expected', { stateToken: token })
  }
  if (observedAt !== null && at < observedAt) {
    throw stale(body, 'a newer snapshot was accepted', { observed_at: plainInstant(observedAt) })
  }
}

function stale({ source, scope }: ReconcileBody, why: string, details: Record<string, unknown>) {
  return new AppError('snapshot_stale', `Cannot reconcile "${source}" of "${scope}": ${why}`, {
    details,
  })
}

function emptied({ source, scope }: ReconcileBody): AppError {
  return new AppError(
    'snapshot_empty',
    `Cannot reconcile "${source}" of "${scope}": the snapshot is empty and the source is not`,
    { details: { remedy: 'send allow_empty: true if the source is really empty now' } },
  )
}
