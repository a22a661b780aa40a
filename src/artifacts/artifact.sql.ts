import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface ArtifactRow {
  id: string
  type: string
  name: string
  uri: string | null
  contentSha256: string | null
  mediaType: string | null
  sizeBytes: number | null
  metadata: Record<string, unknown>
  taskId: string | null
  runId: string | null
  workspaceId: string | null
  supersedesArtifactId: string | null
  supersededByArtifactId: string | null
  createdBy: string
  createdAt: Date
}

/** Artifacts `a` with their successors `next`. Uses index one_successor_per_artifact. */
function selectJoined(sql: Sql) {
  return sql`
    select a.id, a.type, a.name, a.uri, a.content_sha256, a.media_type, a.size_bytes, a.metadata,
           a.task_id, a.run_id, a.workspace_id, a.supersedes_artifact_id,
           next.id as superseded_by_artifact_id, a.created_by, a.created_at
    from artifacts a
    left join artifacts next
      on next.tenant_id = a.tenant_id and next.supersedes_artifact_id = a.id`
}

export async function insertArtifact(
  sql: Sql,
  ctx: Ctx,
  artifact: Omit<ArtifactRow, 'supersededByArtifactId' | 'createdBy' | 'createdAt'> & {
    claimId: string | null
    fencingToken: number | null
  },
): Promise<void> {
  const a = artifact
  await sql`
    insert into artifacts
      (tenant_id, id, type, name, uri, content_sha256, media_type, size_bytes, metadata, task_id,
       run_id, workspace_id, supersedes_artifact_id, claim_id, fencing_token, created_by)
    values
      (${ctx.tenantId}, ${a.id}, ${a.type}, ${a.name}, ${a.uri}, ${a.contentSha256}, ${a.mediaType},
       ${a.sizeBytes}, ${sql.json(a.metadata as never)}, ${a.taskId}, ${a.runId}, ${a.workspaceId},
       ${a.supersedesArtifactId}, ${a.claimId}, ${a.fencingToken}, ${ctx.actorId})`
}

export async function selectArtifact(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<ArtifactRow | undefined> {
  const [row] = await sql<ArtifactRow[]>`
    ${selectJoined(sql)}
    where a.tenant_id = ${ctx.tenantId}
      and a.id = ${id}
      ${inReach(sql, ctx, 'a.workspace_id')}`
  return row
}

export interface ArtifactFilter {
  taskId?: string | undefined
  runId?: string | undefined
  workspaceId?: string | undefined
  type?: string | undefined
  headsOnly?: boolean | undefined
}

/**
 * Newest first. Uses indexes artifacts_by_time, artifacts_by_task, artifacts_by_run,
 * artifacts_by_workspace. Reads one row more than the page holds.
 */
export async function selectArtifacts(
  sql: Sql,
  ctx: Tenancy,
  filter: ArtifactFilter & { page: PageRequest },
): Promise<ArtifactRow[]> {
  const { page, taskId, runId, workspaceId, type, headsOnly = false } = filter
  return await sql<ArtifactRow[]>`
    select found.*
    from (
      ${selectJoined(sql)}
      where a.tenant_id = ${ctx.tenantId}
        ${taskId === undefined ? sql`` : sql`and a.task_id = ${taskId}`}
        ${runId === undefined ? sql`` : sql`and a.run_id = ${runId}`}
        ${workspaceId === undefined ? sql`` : sql`and a.workspace_id = ${workspaceId}`}
        ${type === undefined ? sql`` : sql`and a.type = ${type}`}
        ${headsOnly ? sql`and next.id is null` : sql``}
        ${inReach(sql, ctx, 'a.workspace_id')}
    ) as found
    where true
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** The newest artifacts of a task, newest first. Uses index artifacts_by_task. */
export async function selectLatestArtifacts(
  sql: Sql,
  ctx: Tenancy,
  task: { taskId: string; limit: number },
): Promise<ArtifactRow[]> {
  return await sql<ArtifactRow[]>`
    ${selectJoined(sql)}
    where a.tenant_id = ${ctx.tenantId}
      and a.task_id = ${task.taskId}
      ${inReach(sql, ctx, 'a.workspace_id')}
    order by a.created_at desc, a.id desc
    limit ${task.limit}`
}
