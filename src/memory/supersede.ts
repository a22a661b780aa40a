import type { Sql } from '#db/sql.ts'
import { externalIdentity, observationId } from '#contract/observation-id.ts'
import { mayEnd } from './scopes.ts'
import {
  closeDerived,
  closeObservations,
  selectSuperseded,
  selectSuperseding,
} from './store/observation.sql.ts'
import type { ObservationEnd, ObservationRow, SuccessionRow } from './store/observation.sql.ts'
import type { Namespace } from './store/write.ts'
import { audienceFor, isVisible } from './visibility.ts'

/**
 * Ends observations that the new ones replace, and those of the new ones whose replacement came first:
 * each at its earliest successor's time, together with what was made from it. To be called when the
 * rows are stored. What the successor's writer could not see is left alone, and so is what others would
 * lose to something private.
 */
export async function supersedeObservations(
  sql: Sql,
  namespace: Namespace,
  rows: readonly ObservationRow[],
): Promise<void> {
  const fresh: SuccessionRow[] = rows.map((row) => ({
    ...row,
    writerVisibility: row.writerVisibility && [...row.writerVisibility],
  }))
  const replacing = fresh.filter(({ supersedes }) => supersedes !== null)
  const older = replacing.length === 0 ? [] : await candidates(sql, namespace, replacing)
  const newer = await selectSuperseding(sql, namespace.id, fresh.flatMap(namesOf))
  const ends = [...endsOf(older, replacing), ...endsOf(fresh, newer)]
  if (ends.length === 0) return
  const earliest = new Map<string, ObservationEnd>()
  for (const end of ends) {
    const known = earliest.get(end.observationId)
    if (!known || end.at < known.at) earliest.set(end.observationId, end)
  }
  const list = [...earliest.values()]
  for (const { item, wasOpen, termCount } of await closeObservations(sql, namespace, list)) {
    namespace.changed('observation', item, wasOpen ? -1 : 0, wasOpen ? -termCount : 0)
  }
  for (const { kind, item, termCount } of await closeDerived(sql, namespace, list)) {
    namespace.changed(kind, item, -1, -termCount)
  }
}

async function candidates(
  sql: Sql,
  { id, name }: Namespace,
  replacing: readonly SuccessionRow[],
): Promise<SuccessionRow[]> {
  const ids = replacing.flatMap(({ supersedes, sourceSystem, sourceStream }) => {
    if (supersedes === null) return []
    const external = externalIdentity(sourceSystem, sourceStream, supersedes)
    return [supersedes, observationId(name, external)]
  })
  const subjects = replacing.flatMap(({ supersedes }) => supersedes ?? [])
  return await selectSuperseded(sql, id, { ids, subjects })
}

/** Every name under which another observation may say that it replaces this one. */
function namesOf(row: SuccessionRow): string[] {
  const { observationId: id, externalId, subjectType, subjectId } = row
  return [id, externalId, subjectType === 'observation' ? subjectId : null].filter(
    (name) => name !== null,
  )
}

function endsOf(
  older: readonly SuccessionRow[],
  newer: readonly SuccessionRow[],
): ObservationEnd[] {
  const byName = Map.groupBy(newer, ({ supersedes }) => supersedes)
  return older.flatMap((old) =>
    namesOf(old)
      .flatMap((name) => byName.get(name) ?? [])
      .filter((successor) => replaces(successor, old))
      .map((by) => ({
        observationId: old.observationId,
        by: by.observationId,
        at: by.occurredAt,
      })),
  )
}

function replaces(successor: SuccessionRow, old: SuccessionRow): boolean {
  if (successor.observationId === old.observationId) return false
  const sameStream =
    successor.sourceSystem === old.sourceSystem && successor.sourceStream === old.sourceStream
  const named = successor.supersedes === old.observationId || sameStream
  const seen = isVisible(old.scopes, audienceFor(successor.writerVisibility))
  return named && seen && mayEnd(successor.scopes, old.scopes)
}
