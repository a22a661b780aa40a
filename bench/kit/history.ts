import type { Database, Sql } from '#db/sql.ts'
import type { Agent } from './fleet.ts'

const CHUNK = 50_000

type Progress = (made: number) => void

/**
 * Tasks that the agent claimed and finished long ago, each with its claim and `task.completed`, made by a few
 * statements. `admin` is the superuser's: keys are not checked row by row.
 */
export async function fillFinished(
  admin: Database,
  { ctx, sessionId }: Agent,
  count: number,
  progress: Progress,
): Promise<void> {
  const { tenantId, actorId } = ctx
  const [last] = await admin<{ lastNumber: string }[]>`
    insert into task_numbers as n (tenant_id, last_number)
    values (${tenantId}, ${count})
    on conflict (tenant_id) do update set last_number = n.last_number + ${count}
    returning last_number`
  const before = Number(last?.lastNumber) - count
  await inChunks(
    admin,
    { count, tables: ['tasks', 'claims', 'events'], progress },
    async (sql, chunk) => {
      await sql`
      with made as (
        select n, uuidv7() as id, uuidv7() as claim_id
        from generate_series(1, ${chunk.size}::int) as n
      ),
      task as (
        insert into tasks
          (tenant_id, id, number, title, type_key, type_version, status, status_category, priority,
           created_by, last_fencing_token, version, completed_at)
        select ${tenantId}, id, ${before + chunk.made}::bigint + n, 'Task', 'default', 1, 'completed',
               'terminal_success', 'medium', ${actorId}, 1, 3, now()
        from made
      ),
      claim as (
        insert into claims
          (tenant_id, id, task_id, session_id, principal_id, fencing_token, status, ttl_seconds,
           expires_at, end_reason, ended_at, version)
        select ${tenantId}, claim_id, id, ${sessionId}, ${actorId}, 1, 'released', 300, now(),
               'task_completed', now(), 2
        from made
      )
      insert into events
        (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, actor_id, payload)
      select ${tenantId}, journal_epoch, uuidv7(), 'task.completed', 'task', id::text, 3, ${actorId},
             jsonb_build_object('publicId', 'TASK-' || lpad((${before + chunk.made}::bigint + n)::text, 6, '0'),
                                'version', 3)
      from made, journal_state`
    },
  )
}

/** Events as claims write them, a thousand in a transaction. */
export async function fillEvents(
  admin: Database,
  { ctx, sessionId }: Agent,
  count: number,
  progress: Progress,
): Promise<void> {
  const { tenantId, actorId, correlationId, requestId, traceRunId } = ctx
  const options = { count, tables: ['events'], progress, chunk: 1000 }
  await inChunks(admin, options, async (sql, { size, made }) => {
    await sql`
      insert into events
        (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, actor_id, session_id,
         correlation_id, request_id, trace_run_id, payload)
      select ${tenantId}, journal_epoch, uuidv7(), 'task.claimed', 'task', uuidv7()::text, 2, ${actorId},
             ${sessionId}, ${correlationId}, ${requestId}, ${traceRunId},
             jsonb_build_object('publicId', 'TASK-' || lpad((${made}::bigint + n)::text, 6, '0'),
                                'claimId', uuidv7(), 'sessionId', ${sessionId}::text,
                                'holderId', ${actorId}::text, 'fencingToken', 1, 'intent', null)
      from generate_series(1, ${size}::int) as n, journal_state`
  })
}

interface Filling {
  count: number
  tables: readonly string[]
  progress: Progress
  /** Rows in one transaction. */
  chunk?: number
}

/** Fills tables transaction by transaction; indexes that are no keys are made anew afterwards. */
async function inChunks(
  admin: Database,
  { count, tables, progress, chunk = CHUNK }: Filling,
  insert: (sql: Sql, chunk: { size: number; made: number }) => Promise<void>,
): Promise<void> {
  const isLarge = count > CHUNK
  const indexes = isLarge ? await dropIndexes(admin, tables) : []
  for (let made = 0; made < count; made += chunk) {
    await admin.begin(async (sql) => {
      await sql`set local session_replication_role = 'replica'`
      await sql`set local synchronous_commit = 'off'`
      await insert(sql, { size: Math.min(chunk, count - made), made })
    })
    const done = Math.min(made + chunk, count)
    if (isLarge && done % (5 * CHUNK) === 0) progress(done)
  }
  for (const definition of indexes) await admin.unsafe(definition)
}

/** @returns the statements that make them again */
async function dropIndexes(admin: Database, tables: readonly string[]): Promise<string[]> {
  const rows = await admin<{ name: string; definition: string }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    where i.indrelid::regclass::text = any(${[...tables]})
      and not exists (
        select
        from pg_constraint
        where conindid = i.indexrelid)`
  for (const { name } of rows) await admin`drop index ${admin(name)}`
  return rows.map(({ definition }) => definition)
}
