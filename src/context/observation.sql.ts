import type { Assertion, ExternalRef } from '#contract/observations.ts'
import type { Visibility } from '#contract/visibility.ts'
import type { Ctx } from '#lib/ctx.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'

export interface ObservationRow {
  id: string
  eventId: string
  authorId: string
  kind: string
  visibility: Visibility
  workspaceId: string | null
  taskId: string | null
  runId: string | null
  sessionId: string | null
  source: string | null
  dedupKey: string | null
  externalRef: ExternalRef | null
  supersedes: string | null
  observedAt: Date
  recordedAt: Date
  contentFingerprint: string
}

export interface ContentRow {
  content: string
  data: Record<string, unknown> | null
  assertions: Assertion[] | null
}

type Hidden = { [K in keyof ContentRow]: ContentRow[K] | null }

export type NewObservationRow = Omit<ObservationRow, 'recordedAt'> & {
  contentLength: number
  contentSha256: string
}

function columns(sql: Sql) {
  return sql`o.id, o.event_id, o.author_id, o.kind, o.visibility, o.workspace_id, o.task_id, o.run_id,
    o.session_id, o.source, o.dedup_key, o.external_ref, o.supersedes, o.observed_at, o.recorded_at,
    o.content_fingerprint`
}

export async function insertObservation(
  sql: Sql,
  ctx: Ctx,
  row: NewObservationRow,
): Promise<ObservationRow> {
  const externalRef = row.externalRef === null ? null : sql.json(row.externalRef)
  const [stored] = await sql<[ObservationRow]>`
    insert into observations as o
      (tenant_id, id, event_id, author_id, kind, visibility, workspace_id, task_id, run_id,
       session_id, source, dedup_key, external_ref, supersedes, observed_at, content_length,
       content_sha256, content_fingerprint)
    values
      (${ctx.tenantId}, ${row.id}, ${row.eventId}, ${row.authorId}, ${row.kind}, ${row.visibility},
       ${row.workspaceId}, ${row.taskId}, ${row.runId}, ${row.sessionId}, ${row.source},
       ${row.dedupKey}, ${externalRef}, ${row.supersedes}, ${row.observedAt},
       ${row.contentLength}, ${row.contentSha256}, ${row.contentFingerprint})
    returning ${columns(sql)}`
  return stored
}

export async function insertContent(
  sql: Sql,
  ctx: Ctx,
  row: ContentRow & { eventId: string },
): Promise<void> {
  await sql`
    insert into observation_contents (tenant_id, event_id, content, data, assertions)
    values (${ctx.tenantId}, ${row.eventId}, ${row.content},
            ${row.data === null ? null : sql.json(row.data as never)},
            ${row.assertions === null ? null : sql.json(row.assertions as never)})`
}

/** Uses index observations_by_key. */
export async function selectByKey(
  sql: Sql,
  ctx: Ctx,
  key: { source: string; dedupKey: string },
): Promise<ObservationRow | undefined> {
  const [row] = await sql<ObservationRow[]>`
    select ${columns(sql)}
    from observations o
    where o.tenant_id = ${ctx.tenantId}
      and o.author_id = ${ctx.actorId}
      and o.source = ${key.source}
      and o.dedup_key = ${key.dedupKey}`
  return row
}

/** An observation with its text, which is null once erased; one that is private to another is not there. */
export async function selectObservation(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<(ObservationRow & Hidden) | undefined> {
  const [row] = await sql<(ObservationRow & Hidden)[]>`
    select ${columns(sql)}, c.content, c.data, c.assertions
    from observations o
    left join observation_contents c on c.tenant_id = o.tenant_id and c.event_id = o.event_id
    where o.tenant_id = ${ctx.tenantId}
      and o.id = ${id}
      and (o.visibility <> 'private' or o.author_id = ${ctx.actorId})
      ${inReach(sql, ctx, 'o.workspace_id')}`
  return row
}

/** The texts behind events of the journal that the caller may read. */
export async function selectContents(
  sql: Sql,
  ctx: Ctx,
  eventIds: readonly string[],
): Promise<Map<string, ContentRow>> {
  if (eventIds.length === 0) return new Map()
  const rows = await sql<(ContentRow & { eventId: string })[]>`
    select c.event_id, c.content, c.data, c.assertions
    from observation_contents c
    join observations o on o.tenant_id = c.tenant_id and o.event_id = c.event_id
    where c.tenant_id = ${ctx.tenantId}
      and c.event_id = any(${[...eventIds]}::uuid[])
      and (o.visibility <> 'private' or o.author_id = ${ctx.actorId})
      ${inReach(sql, ctx, 'o.workspace_id')}`
  return new Map(rows.map(({ eventId, ...text }) => [eventId, text]))
}
