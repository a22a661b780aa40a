import type { Snapshot } from '#contract/knowledge.ts'
import { reconcile } from '#contract/memory-reconcile.ts'
import type { Sql, Transact } from '#db/sql.ts'
import { appendEvents, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { askKnowledge, isRecord, knowledgePlace } from './knowledge.ts'
import type { KnowledgePlace, Offender } from './knowledge.ts'
import type { MemoryProvider } from './recall.ts'
import { changesOf, countersOf } from './snapshot.ts'

interface Deps {
  transact: Transact
  provider: MemoryProvider | null
}

const CODES = { invalid: 'snapshot_invalid', conflict: 'snapshot_stale' } as const

/**
 * Brings memory to the state of a full snapshot of one source, and notes in the journal that it did,
 * with numbers and keys but without content. Memory's answer is given back as it is.
 *
 * A crash between memory and the journal is mended by repeating the request: memory recognises the
 * snapshot and the event is written then.
 */
export async function reconcileSnapshot(
  { transact, provider }: Deps,
  ctx: Ctx,
  snapshot: Snapshot,
) {
  const { answer, place } = await send({ transact, provider }, ctx, { snapshot, dryRun: false })
  await transact('read write', (sql) => record(sql, ctx, { snapshot, place, answer }))
  return answer
}

/** What the snapshot would change. Changes nothing, here or in memory, and leaves no event. */
export async function previewSnapshot({ transact, provider }: Deps, ctx: Ctx, snapshot: Snapshot) {
  const { answer } = await send({ transact, provider }, ctx, { snapshot, dryRun: true })
  if (isRecord(answer['changes']) && answer['dryRun'] === true) return answer
  throw new AppError('memory_unavailable', 'Cannot preview: memory answered without a plan', {
    details: { memoryStatus: 200, retryable: false },
  })
}

async function send(
  { transact, provider: configured }: Deps,
  ctx: Ctx,
  { snapshot, dryRun }: { snapshot: Snapshot; dryRun: boolean },
): Promise<{ answer: Record<string, unknown>; place: KnowledgePlace }> {
  const { workspaceId } = snapshot
  const { place, provider } = await knowledgePlace(transact, ctx, {
    provider: configured,
    workspaceId,
    writes: true,
  })
  const ask = { route: reconcile, input: { body: bodyOf(snapshot, place, dryRun) } }
  const answer = await askKnowledge(provider, ctx, { ...ask, codes: CODES }).catch(
    (error: unknown) => {
      throw withKeys(error, snapshot)
    },
  )
  return { answer, place }
}

function bodyOf(snapshot: Snapshot, place: KnowledgePlace, dryRun: boolean) {
  const { pack, source, scope, snapshotId, observedAt, expectedState, allowEmpty } = snapshot
  return {
    namespace: place.namespace,
    scopes: [`workspace:${place.workspaceId}`],
    source,
    scope,
    snapshot_id: snapshotId,
    observed_at: observedAt,
    entities: snapshot.entities as never,
    relations: snapshot.relations as never,
    dry_run: dryRun,
    allow_empty: allowEmpty,
    ...(pack !== undefined && { pack }),
    ...(expectedState !== undefined && { expected_state: expectedState }),
  }
}

/** Names what memory refused by the caller's own kinds and keys, where it only told the place. */
function withKeys(error: unknown, snapshot: Snapshot): unknown {
  if (!(error instanceof AppError) || error.code !== 'snapshot_invalid') return error
  const items = (error.details['items'] ?? []) as Offender[]
  const named = items.map((item) => ({ ...keysAt(snapshot, item.loc), ...item }))
  return new AppError('snapshot_invalid', error.message, { details: { items: named } })
}

function keysAt(snapshot: Snapshot, loc = ''): Offender {
  const [, list, index] = /\b(entities|relations)\.(\d+)\b/.exec(loc) ?? []
  if (list !== 'entities' && list !== 'relations') return {}
  const item = snapshot[list][Number(index)] ?? {}
  const [kind, key] = list === 'entities' ? [item['kind'], item['key']] : [item['relation']]
  return { ...(typeof kind === 'string' && { kind }), ...(typeof key === 'string' && { key }) }
}

async function record(
  sql: Sql,
  ctx: Ctx,
  done: { snapshot: Snapshot; place: KnowledgePlace; answer: Record<string, unknown> },
): Promise<void> {
  const { place, answer } = done
  const { source, scope, snapshotId } = done.snapshot
  const { workspaceId } = place
  const about = {
    entityType: 'workspace',
    entityId: workspaceId,
    entityVersion: place.workspaceVersion,
    workspaceId,
  }
  const { changes, truncated } = changesOf(answer)
  const duplicate = answer['duplicate'] === true
  const payload = {
    workspaceId,
    source,
    scope,
    snapshotId,
    duplicate,
    counters: countersOf(answer),
  }
  await lockEntities(sql, ctx, [{ type: 'workspace', id: workspaceId }])
  await appendEvents(sql, ctx, [
    { ...about, type: 'knowledge.snapshot_reconciled', payload },
    ...(changes.length > 0
      ? [
          {
            ...about,
            type: 'knowledge.changed' as const,
            payload: { workspaceId, changes, truncated },
          },
        ]
      : []),
  ])
}
