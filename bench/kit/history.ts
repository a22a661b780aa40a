import type { Database } from '#db/sql.ts'
import type { Agent } from './fleet.ts'

const CHUNK = 50_000

/**
 * Tasks that the agent claimed and finished long ago, each with its claim and `task.completed`, made by a few
 * statements. `admin` is the superuser's: keys are not checked row by row.
 */
export async function fillFinished(
  admin: Database,
  { ctx, sessionId }: Agent,
  count: number,
  progress: (made: number) => void,
): Promise<void> {
  const { tenantId, actorId } = ctx
  const [last] = await admin<{ lastNumber: string }[]>`
    insert into task_numbers as n (tenant_id, last_number)
    values (${tenantId}, ${count})
    on conflict (tenant_id) do update set last_number = n.last_number + ${count}
    returning last_number`
  const before = Number(last?.lastNumber) - count
  for (let made = 0; made < count; made += CHUNK) {
    await admin.begin(async (sql) => {
      await sql`set local session_replication_role = 'replica'`
      await sql`
        with made as (
          select n, uuidv7() as id, uuidv7() as claim_id, uuidv7() as event_id
          from generate_series(1, ${Math.min(CHUNK, count - made)}::int) as n
        ),
        task as (
          insert into tasks
            (tenant_id, id, number, title, type_key, type_version, status, status_category, priority,
             created_by, last_fencing_token, version, completed_at)
          select ${tenantId}, id, ${before + made}::bigint + n, 'Task', 'default', 1, 'completed',
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
          (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, actor_id,
           payload)
        select ${tenantId}, journal_epoch, event_id, 'task.completed', 'task', id::text, 3, ${actorId},
               jsonb_build_object('publicId', 'TASK-' || lpad((${before + made}::bigint + n)::text, 6, '0'),
                                  'version', 3)
        from made, journal_state`
    })
    progress(Math.min(made + CHUNK, count))
  }
}
