import type { ControlKind, ControlMessage } from '#contract/control-messages.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface MessageRow {
  id: string
  runId: string
  sequence: number
  kind: ControlKind
  message: string | null
  /** As recorded; what was accepted when its run ended is superseded from then on. */
  status: ControlMessage['status']
  authorId: string
  runVersion: number
  checkpointSequence: number
  actionSequence: number
  safeBoundary: string | null
  note: string | null
  createdAt: Date
  settledAt: Date | null
}

/** Messages `m` to runs `r`. */
function selectJoined(sql: Sql) {
  return sql`
    select m.id, m.run_id, m.sequence, m.kind, m.message, ${shownStatus(sql)} as status,
           m.author_id, m.run_version, m.checkpoint_sequence, m.action_sequence, m.safe_boundary,
           m.note, m.created_at,
           case when ${isLeftOver(sql)} then r.finished_at else m.settled_at end as settled_at
    from run_control_messages m
    join runs r on r.tenant_id = m.tenant_id and r.id = m.run_id`
}

function isLeftOver(sql: Sql) {
  return sql`(m.status = 'accepted' and r.status <> 'running')`
}

function shownStatus(sql: Sql) {
  return sql`case when ${isLeftOver(sql)} then 'superseded' else m.status end`
}

/**
 * Adds the next message to a running run, which gets a new version: two senders who knew the same
 * version do not both pass. Both rows or neither.
 */
export async function insertMessage(
  sql: Sql,
  ctx: Ctx,
  message: Pick<MessageRow, 'id' | 'runId' | 'kind' | 'message'>,
): Promise<{ sequence: number } | undefined> {
  const { id, runId, kind } = message
  const [row] = await sql<{ sequence: number }[]>`
    with run as (
      update runs
      set message_count = message_count + 1, version = version + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${runId}
        and status = 'running'
      returning message_count, version, checkpoint_count, action_count)
    insert into run_control_messages
      (tenant_id, run_id, sequence, id, kind, message, author_id, run_version,
       checkpoint_sequence, action_sequence)
    select ${ctx.tenantId}, ${runId}, run.message_count, ${id}, ${kind}, ${message.message},
           ${ctx.actorId}, run.version, run.checkpoint_count, run.action_count
    from run
    returning sequence`
  return row
}

export async function selectMessage(
  sql: Sql,
  ctx: Tenancy,
  message: { id: string; runId: string },
): Promise<MessageRow | undefined> {
  const [row] = await sql<MessageRow[]>`
    ${selectJoined(sql)}
    where m.tenant_id = ${ctx.tenantId}
      and m.id = ${message.id}
      and m.run_id = ${message.runId}`
  return row
}

/** Oldest first, after a sequence. */
export async function selectMessages(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    runId: string
    after: number
    limit: number
    status: ControlMessage['status'] | undefined
  },
): Promise<MessageRow[]> {
  const { runId, after, limit, status } = filter
  return await sql<MessageRow[]>`
    ${selectJoined(sql)}
    where m.tenant_id = ${ctx.tenantId}
      and m.run_id = ${runId}
      and m.sequence > ${after}
      ${status === undefined ? sql`` : sql`and ${shownStatus(sql)} = ${status}`}
    order by m.sequence
    limit ${limit}`
}

export interface SettledMessage {
  id: string
  kind: ControlKind
  sequence: number
  status: ControlMessage['status']
  safeBoundary: string | null
}

/** @returns the message, or undefined when something became of it before */
export async function updateMessageSettled(
  sql: Sql,
  ctx: Tenancy,
  message: {
    id: string
    status: 'applied' | 'rejected' | 'superseded'
    safeBoundary: string | null
    note: string | null
    fencingToken: number | null
  },
): Promise<SettledMessage | undefined> {
  const { id, status, safeBoundary, note, fencingToken } = message
  const [row] = await sql<SettledMessage[]>`
    update run_control_messages
    set status = ${status},
        safe_boundary = ${safeBoundary},
        note = ${note},
        fencing_token = ${fencingToken},
        settled_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      and status = 'accepted'
    returning id, kind, sequence, status, safe_boundary`
  return row
}

/** Supersedes what was accepted before a message, of some kinds; oldest first. */
export async function updateMessagesSuperseded(
  sql: Sql,
  ctx: Tenancy,
  by: { runId: string; sequence: number; kinds: readonly ControlKind[] },
): Promise<SettledMessage[]> {
  return await sql<SettledMessage[]>`
    with settled as (
      update run_control_messages
      set status = 'superseded', settled_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and run_id = ${by.runId}
        and sequence < ${by.sequence}
        and kind = any(${[...by.kinds]}::text[])
        and status = 'accepted'
      returning tenant_id, id, kind, sequence, status, safe_boundary)
    select id, kind, sequence, status, safe_boundary
    from settled
    where tenant_id = ${ctx.tenantId}
    order by sequence`
}
