import type { Sql } from '#db/sql.ts'
import { sha256 } from '#lib/id.ts'
import { predicateOf } from '../graph/assert-fact.ts'
import { insertEdges } from '../store/edge.sql.ts'
import {
  closeSnapshotEdges,
  closeSnapshotRelations,
  insertSnapshotRelations,
  selectOpenEnds,
  selectOpenRelations,
  selectSubjects,
  selectWaiting,
  updateResolved,
} from '../store/snapshot-relation.sql.ts'
import type { OpenRelationRow, SubjectRow, WaitingRow } from '../store/snapshot-relation.sql.ts'
import { slices } from '../store/slices.ts'
import type { Namespace } from '../store/write.ts'
import type { Reconciling } from './reconcile-entities.ts'
import { difference, entityId } from './snapshot.ts'
import type { Difference, RelationState } from './snapshot.ts'

export interface RelationRun extends Reconciling {
  source: string
  scope: string
  snapshotId: string
}

export interface RelationDifference extends Difference<RelationState, OpenRelationRow> {
  /** What each changed relation takes the place of, by its identity. */
  before: ReadonlyMap<string, OpenRelationRow>
  wasEmpty: boolean
}

/**
 * What differs between the open relations of a source and a snapshot. Where a subject has at most one of a
 * relation, the one that came takes the place of the one that went.
 */
export async function compareRelations(
  sql: Sql,
  { id, sourceNo, catalog }: Pick<Reconciling, 'id' | 'sourceNo' | 'catalog'>,
  relations: readonly RelationState[],
): Promise<RelationDifference> {
  const rows = await selectOpenRelations(sql, id, sourceNo)
  const open = new Map(rows.map((one) => [one.identity, one]))
  const diff = difference(open, relations, ({ identity }) => identity)
  const isSingle = ({ relation }: { relation: string }) =>
    catalog.relations.get(relation)?.declaration.cardinality === 'one'
  const came = Map.groupBy(diff.opened.filter(isSingle), subjectOf)
  const ended = came.size === 0 ? [] : diff.closed
  const subjects = ended.length === 0 ? [] : await selectSubjects(sql, id, sourceNo, ended)
  const went = Map.groupBy(subjects.filter(isSingle), subjectOf)
  const replaced = new Map<string, string>()
  for (const [subject, [one, ...others]] of came) {
    const [former, ...more] = went.get(subject) ?? []
    if (one && former && others.length + more.length === 0) {
      replaced.set(one.identity, former.identity)
    }
  }
  const before = new Map(
    [...diff.changed.map(({ identity }) => [identity, identity] as const), ...replaced].flatMap(
      ([identity, former]) => {
        const row = open.get(former)
        return row ? [[identity, row] as const] : []
      },
    ),
  )
  const gone = new Set(replaced.values())
  return {
    opened: diff.opened.filter(({ identity }) => !replaced.has(identity)),
    changed: [...diff.changed, ...diff.opened.filter(({ identity }) => replaced.has(identity))],
    closed: diff.closed.filter(({ identity }) => !gone.has(identity)),
    unchanged: diff.unchanged,
    before,
    wasEmpty: rows.length === 0,
  }
}

function subjectOf({ relation, fromKind, fromKey }: SubjectRow | RelationState): string {
  return [relation, fromKind, fromKey].join('\u001f')
}

export interface RelationOutcome {
  /** Relations of the source that wait for an end afterwards. */
  pending: number
  /** Waiting relations, of any source, that got both ends. */
  resolved: number
  /** Waiting relations that were looked at again. */
  retried: number
}

/**
 * Writes the difference to the ledger and to the edges. A relation whose end is missing waits without
 * an edge; it is looked at again when its own snapshot comes again and when any snapshot names the end.
 */
export async function applyRelations(
  sql: Sql,
  run: RelationRun,
  { opened, changed, closed, before }: RelationDifference,
  keys: readonly string[],
): Promise<RelationOutcome> {
  const ends = [
    ...[...before.values()].map(({ identity }) => ({ identity, superseded: true })),
    ...closed.map(({ identity }) => ({ identity, superseded: false })),
  ]
  for (const rows of slices(ends)) await closeSnapshotRelations(sql, run, rows)
  const waiting = await selectWaiting(sql, run.id, run.sourceNo, keys)
  const added = [...opened, ...changed].map((relation) => asWaiting(relation, run))
  const known = await openEnds(sql, run.id, [...waiting, ...added])
  const isReady = (one: WaitingRow) => known.has(fromOf(one)) && known.has(toOf(one))
  const made = new Map<string, string>()
  for (const one of added) if (isReady(one)) made.set(one.identity, factIdOf(run.namespace, one))
  for (const rows of slices([...opened, ...changed])) {
    await insertSnapshotRelations(
      sql,
      run,
      rows.map((row) => ({ ...row, factId: made.get(row.identity) ?? null })),
    )
  }
  const resolved = waiting.filter(isReady)
  for (const rows of slices(resolved)) {
    await updateResolved(
      sql,
      run.id,
      rows.map((one) => ({ ...one, factId: factIdOf(run.namespace, one) })),
    )
  }
  await endEdges(
    sql,
    run,
    [
      ...closed.map(({ factId }) => ({ factId, supersededBy: null })),
      ...[...before].map(([identity, { factId }]) => ({
        factId,
        supersededBy: made.get(identity) ?? null,
      })),
    ].flatMap(({ factId, ...end }) => (factId === null ? [] : [{ factId, ...end }])),
  )
  const replaced = new Map([...before].map(([identity, { factId }]) => [identity, factId]))
  await addEdges(sql, run, [...resolved, ...added.filter(isReady)], replaced)
  const own = waiting.filter(({ sourceNo }) => sourceNo === run.sourceNo)
  return {
    pending: own.filter((one) => !isReady(one)).length + added.length - made.size,
    resolved: resolved.length,
    retried: waiting.length,
  }
}

function asWaiting(relation: RelationState, run: RelationRun): WaitingRow {
  const { sourceNo, source, scope, snapshotId, version, at } = run
  return { ...relation, sourceNo, source, scope, snapshotId, openedBy: version, validFrom: at }
}

function fromOf({ fromKind, fromKey }: WaitingRow): string {
  return entityId({ kind: fromKind, key: fromKey })
}

function toOf({ toKind, toKey }: WaitingRow): string {
  return entityId({ kind: toKind, key: toKey })
}

async function openEnds(
  sql: Sql,
  namespaceId: string,
  relations: readonly WaitingRow[],
): Promise<Set<string>> {
  const ends = new Map<string, { kind: string; key: string }>()
  for (const { fromKind, fromKey, toKind, toKey } of relations) {
    for (const end of [
      { kind: fromKind, key: fromKey },
      { kind: toKind, key: toKey },
    ]) {
      ends.set(entityId(end), end)
    }
  }
  const known = new Set<string>()
  for (const rows of slices([...ends.values()])) {
    for (const end of await selectOpenEnds(sql, namespaceId, rows)) known.add(entityId(end))
  }
  return known
}

/** Of source and opening snapshot too: sources never share an edge, and what is opened anew is new. */
function factIdOf(
  { name }: Namespace,
  { source, scope, identity, snapshotId }: WaitingRow,
): string {
  const parts = [name, source, scope, identity, snapshotId]
  return `fact-${sha256(parts.join('\u001f')).slice(0, 24)}`
}

async function endEdges(
  sql: Sql,
  run: RelationRun,
  ends: readonly { factId: string; supersededBy: string | null }[],
): Promise<void> {
  for (const rows of slices(ends)) {
    for (const { item, termCount } of await closeSnapshotEdges(sql, run, rows)) {
      run.namespace.changed('edge', item, -1, -termCount)
    }
  }
}

/** Edges of a source are followed, not searched for by words: there are many and they say little. */
async function addEdges(
  sql: Sql,
  { namespace }: RelationRun,
  relations: readonly WaitingRow[],
  replaced: ReadonlyMap<string, string | null>,
): Promise<void> {
  for (const some of slices(relations)) {
    const rows = some.map((one) => ({
      item: namespace.nextItem(),
      factId: factIdOf(namespace, one),
      subject: one.fromKey,
      subjectKind: one.fromKind,
      predicate: predicateOf(one.relation),
      object: one.toKey,
      objectKind: one.toKind,
      attributes: one.attributes,
      validFrom: one.validFrom,
      validTo: null,
      observedAt: one.validFrom,
      confidence: 1,
      observationIds: [],
      supersedes: replaced.get(one.identity) ?? null,
      supersededBy: null,
      sourcePath: null,
      origin: 'snapshot' as const,
      scopes: one.scopes,
      snapshotSource: one.source,
      snapshotScope: one.scope,
      snapshotId: one.snapshotId,
      provenance: one.provenance,
      terms: '{}',
      termTfs: '{}',
      termCount: 0,
    }))
    await insertEdges(sql, namespace, rows)
    for (const { item } of rows) namespace.changed('edge', item, 1, 0)
  }
}
