import type { NewObservation, RecordedObservation } from '#contract/observations.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId, sha256 } from '#lib/id.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { fingerprintOf, visibilityOf } from './observation.ts'
import {
  insertContent,
  insertObservation,
  selectByKey,
  selectObservation,
} from './observation.sql.ts'
import type { ObservationRow } from './observation.sql.ts'
import { placeOf } from './place-observation.ts'
import type { Place } from './place-observation.ts'
import { refuseSecrets } from './refuse-secrets.ts'

/**
 * Records what its author concluded, as the event `observation.recorded`; memory is told later, from
 * the journal. The text is stored beside the journal, which keeps its length and sha256.
 *
 * A repeat of the author's own (source, dedupKey) writes nothing and answers with the first record.
 * Throws `secret_refused`, `not_found` (task, run, workspace, session, superseded observation),
 * `session_owner_mismatch`, `observation_invalid`.
 */
export async function recordObservation(
  sql: Sql,
  ctx: Ctx,
  input: NewObservation,
): Promise<RecordedObservation> {
  refuseSecrets(input)
  const key = keyOf(input)
  if (key) await lockEntities(sql, ctx, [keyEntity(ctx, key)])
  const place = await placeOf(sql, ctx, input)
  await checkSuperseded(sql, ctx, input)
  const earlier = key && (await selectByKey(sql, ctx, key))
  if (earlier) return recorded(earlier, { deduplicated: true, input })
  return recorded(await store(sql, ctx, { input, place }), { deduplicated: false, input })
}

/** Something private must not make others lose what they see, without seeing what took its place. */
async function checkSuperseded(sql: Sql, ctx: Ctx, input: NewObservation): Promise<void> {
  const { supersedes: id } = input
  if (id === undefined) return
  const old = found(await selectObservation(sql, ctx, id), 'observation', id)
  if (visibilityOf(input) !== 'private' || old.visibility === 'private') return
  const message = 'must be an observation that is private too'
  throw new AppError('observation_invalid', `Cannot supersede observation "${id}": it ${message}`, {
    details: { errors: [{ loc: 'body.supersedes', message }] },
  })
}

interface Key {
  source: string
  dedupKey: string
}

function keyOf({ source, dedupKey }: NewObservation): Key | undefined {
  return source === undefined || dedupKey === undefined ? undefined : { source, dedupKey }
}

/** The lock that makes twins of one author wait for each other. */
function keyEntity({ actorId }: Ctx, { source, dedupKey }: Key) {
  return { type: 'observation_key', id: `${actorId}/${source}/${dedupKey}` }
}

async function store(
  sql: Sql,
  ctx: Ctx,
  { input, place }: { input: NewObservation; place: Place },
): Promise<ObservationRow> {
  const id = newId()
  const observedAt = input.observedAt === undefined ? ctx.now() : new Date(input.observedAt)
  const { content, data = null, assertions = null } = input
  const facts = {
    ...place,
    kind: input.kind,
    visibility: visibilityOf(input),
    source: input.source ?? null,
    dedupKey: input.dedupKey ?? null,
    externalRef: input.externalRef ?? null,
    supersedes: input.supersedes ?? null,
    contentLength: content.length,
    contentSha256: sha256(content),
  }
  const eventId = await appendEvent(sql, ctx, {
    type: 'observation.recorded',
    entityType: 'observation',
    entityId: id,
    entityVersion: 1,
    workspaceId: place.workspaceId,
    sessionId: place.sessionId,
    payload: { ...facts, observedAt: observedAt.toISOString() },
  })
  const row = await insertObservation(sql, ctx, {
    ...facts,
    id,
    eventId,
    authorId: ctx.actorId,
    observedAt,
    contentFingerprint: fingerprintOf(input),
  })
  await insertContent(sql, ctx, { eventId, content, data, assertions })
  return row
}

function recorded(
  row: ObservationRow,
  { deduplicated, input }: { deduplicated: boolean; input: NewObservation },
): RecordedObservation {
  const { id, eventId, kind, taskId, runId, workspaceId, visibility } = row
  return {
    id,
    eventId,
    kind,
    recordedAt: row.recordedAt.toISOString(),
    deduplicated,
    contentDiffers: deduplicated && row.contentFingerprint !== fingerprintOf(input),
    taskId,
    runId,
    workspaceId,
    visibility,
  }
}
