import type { ErasureMode, ErasureReceipt, Removed } from '#contract/memory-deletion.ts'
import type { Database, Sql } from '#db/sql.ts'
import { found } from '#lib/errors.ts'
import { plainInstant } from '#lib/instant.ts'
import type { MemoryCtx, Writer } from '../access/caller.ts'
import { chunkFields, observationFields } from '../analysis/fields.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { parseAssertions } from '../graph/project.ts'
import { isVisibilityScope, isVisible } from '../visibility.ts'
import { selectNamespaceId } from '../store/namespace.sql.ts'
import { writeNamespace } from '../store/write.ts'
import type { Namespace } from '../store/write.ts'
import { deleteChunks, deleteTraces } from './derived.sql.ts'
import { eraseFacts, retitleFacts } from './erase-facts.ts'
import { eraseDangling, eraseNodes } from './erase-nodes.ts'
import { forgetWords } from './forget-words.ts'
import {
  deleteObservation,
  redactObservation,
  selectErasable,
  selectNaming,
  selectTombstones,
  selectTwins,
  upsertTombstone,
} from './observation.sql.ts'
import type { ErasableRow, TombstoneRow } from './observation.sql.ts'
import { sharesOf, without } from './share.ts'
import type { Shares } from './share.ts'

export interface Erasure {
  namespace: string
  observationId: string
  mode: ErasureMode
  /** Whether what has not arrived yet is erased too. */
  ahead: boolean
  writer: Writer
}

/**
 * Forgets an observation: what it said, the texts, entities and facts that rest on it alone, and every way
 * to find them. A tombstone keeps its key, so that a replay does not bring it back; what it had replaced
 * stays replaced. One transaction: all of it or nothing. A repeat answers the receipt of the first time; a
 * purge goes further than a redaction before it.
 *
 * Throws `not_found` for one that is not there or that the caller may not see.
 */
export async function eraseObservation(
  db: Database,
  ctx: MemoryCtx,
  erasure: Erasure,
): Promise<ErasureReceipt> {
  const { namespace, observationId, ahead } = erasure
  if (!ahead && (await selectNamespaceId(db, namespace)) === undefined) {
    found(undefined, 'observation', observationId)
  }
  const { isRepeat, tombstone } = await writeNamespace(db, namespace, (sql, ns) =>
    eraseWithin(sql, ns, ctx, erasure),
  )
  return {
    observation_id: observationId,
    namespace,
    mode: tombstone.mode,
    erased_at: plainInstant(tombstone.erasedAt),
    repeated: isRepeat,
    removed: tombstone.removed,
  }
}

async function eraseWithin(sql: Sql, ns: Namespace, ctx: MemoryCtx, erasure: Erasure) {
  const { observationId, mode } = erasure
  const row = await selectErasable(sql, ns.id, observationId)
  const [before] = await selectTombstones(sql, ns.id, [observationId])
  const scopes = visibleScopes(row ?? before, erasure)
  if (before && isSettled(before, mode)) return { isRepeat: true, tombstone: before }
  const removed = row ? await remove(sql, ns, { ...erasure, row }) : NOTHING
  const tombstone: TombstoneRow = {
    observationId,
    mode,
    scopes: scopes.filter(isVisibilityScope),
    erasedAt: ns.now,
    removed: sum(before?.removed ?? NOTHING, removed),
  }
  await upsertTombstone(sql, ns.id, tombstone)
  await recordAudit(sql, ctx, {
    namespaceId: ns.id,
    action: `observation.${mode}`,
    target: observationId,
    details: { removed },
    scopes: tombstone.scopes,
  })
  return { isRepeat: false, tombstone }
}

/** Scopes of what is to be erased; for who may not see it, it is not there. */
function visibleScopes(
  known: { scopes: string[] } | undefined,
  { observationId, ahead, writer }: Erasure,
): string[] {
  if (!known && ahead) return []
  const seen = known && isVisible(known.scopes, writer.audience) ? known : undefined
  return found(seen, 'observation', observationId).scopes
}

function isSettled(before: TombstoneRow, mode: ErasureMode): boolean {
  return before.mode === 'purge' || before.mode === mode
}

async function remove(
  sql: Sql,
  namespace: Namespace,
  { row, observationId, mode }: Erasure & { row: ErasableRow },
): Promise<Removed> {
  const shares = await ownShares(sql, namespace.id, observationId, row)
  const chunks = await deleteChunks(sql, namespace.id, observationId)
  for (const { item, isOpen, termCount } of chunks) {
    namespace.changed('chunk', item, isOpen ? -1 : 0, isOpen ? -termCount : 0)
  }
  const facts = await eraseFacts(sql, namespace, { observationId, mode })
  const nodes = await eraseNodes(sql, namespace, {
    observationId,
    at: row.occurredAt,
    mode,
    shares,
  })
  await retitleFacts(sql, namespace, nodes.renamed)
  if (mode === 'purge') await deleteObservation(sql, namespace.id, observationId)
  else await redactObservation(sql, namespace, observationId)
  namespace.changed('observation', row.item, row.isOpen ? -1 : 0, row.isOpen ? -row.termCount : 0)
  const dangling = mode === 'purge' ? await eraseDangling(sql, namespace, facts.ends) : 0
  const named = [observationId, ...facts.ids, ...chunks.map(({ item }) => `chunk:${item}`)]
  const fields = [
    ...observationFields(row),
    ...chunks.flatMap(chunkFields),
    ...facts.fields,
    ...nodes.fields,
  ]
  return {
    observations: row.status === 'redacted' && mode === 'redact' ? 0 : 1,
    chunks: chunks.length,
    nodes: nodes.nodes + dangling,
    nodes_changed: nodes.changed,
    facts: facts.facts,
    facts_kept: facts.kept,
    links: nodes.links,
    traces: mode === 'purge' ? await deleteTraces(sql, namespace.id, named) : 0,
    words: await forgetWords(sql, namespace, fields),
  }
}

/** What nobody but this observation says. */
async function ownShares(
  sql: Sql,
  namespaceId: string,
  observationId: string,
  row: ErasableRow,
): Promise<Shares> {
  const shares = sharesOf(observationId, parseAssertions(row))
  if (shares.size === 0) return shares
  const aliases = [...shares.values()].flatMap((share) => [...share.aliases])
  const others = [
    ...(await selectTwins(sql, namespaceId, { observationId, occurredAt: row.occurredAt })),
    ...(aliases.length === 0
      ? []
      : await selectNaming(sql, namespaceId, { observationId, aliases })),
  ]
  for (const other of others) without(shares, sharesOf(other.observationId, parseAssertions(other)))
  return shares
}

const NOTHING: Removed = {
  observations: 0,
  chunks: 0,
  nodes: 0,
  nodes_changed: 0,
  facts: 0,
  facts_kept: 0,
  links: 0,
  traces: 0,
  words: 0,
}

/** A purge after a redaction tells of both together; the observation is one. */
function sum(a: Removed, b: Removed): Removed {
  const added = Object.entries(a).map(([name, count]) => [name, count + b[name as keyof Removed]])
  return {
    ...(Object.fromEntries(added) as Removed),
    observations: Math.max(a.observations, b.observations),
  }
}
