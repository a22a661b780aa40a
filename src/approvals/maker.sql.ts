import type { Sql } from '#db/sql.ts'

/**
 * True of approvals `a`, with their tasks `t`, when a principal made what is to be approved: wrote the
 * artifact or an earlier revision of it; of a task alone, created it, changed what it asks for, or has ever
 * held it. Uses index one_claim_per_token, one look-up per revision.
 */
export function isMaker(sql: Sql, principalId: string) {
  return sql`
    case when a.artifact_id is null then
      t.created_by = ${principalId}
      or exists (
        select
        from task_revisers r
        where r.tenant_id = a.tenant_id
          and r.task_id = a.task_id
          and r.principal_id = ${principalId})
      or exists (
        select
        from claims c
        where c.tenant_id = a.tenant_id
          and c.task_id = a.task_id
          and c.principal_id = ${principalId})
    else
      exists (
        with recursive earlier as (
          select f.created_by, f.supersedes_artifact_id
          from artifacts f
          where f.tenant_id = a.tenant_id
            and f.id = a.artifact_id
          union all
          select p.created_by, p.supersedes_artifact_id
          from earlier
          join artifacts p on p.tenant_id = a.tenant_id and p.id = earlier.supersedes_artifact_id
        )
        select
        from earlier
        where created_by = ${principalId})
    end`
}
