import { newerThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface CommentRow {
  id: string
  taskId: string
  /** The workspace of the task, which the comment's events are stamped with. */
  workspaceId: string | null
  authorId: string
  body: string
  runId: string | null
  claimId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

/** Comments `c` of tasks `t`. */
function selectJoined(sql: Sql) {
  return sql`
    select c.id, c.task_id, t.workspace_id, c.author_id, c.body, c.run_id, c.claim_id, c.version,
           c.created_at, c.updated_at
    from task_comments c
    join tasks t on t.tenant_id = c.tenant_id and t.id = c.task_id`
}

/** The comment with the first of its revisions. */
export async function insertComment(
  sql: Sql,
  ctx: Ctx,
  comment: Pick<CommentRow, 'id' | 'taskId' | 'body' | 'runId' | 'claimId'> & {
    fencingToken: number | null
  },
): Promise<void> {
  const { id, taskId, body, runId, claimId, fencingToken } = comment
  await sql`
    with added as (
      insert into task_comments
        (tenant_id, id, task_id, author_id, body, run_id, claim_id, fencing_token)
      values
        (${ctx.tenantId}, ${id}, ${taskId}, ${ctx.actorId}, ${body}, ${runId}, ${claimId},
         ${fencingToken})
      returning tenant_id, id, version, body, created_at)
    insert into task_comment_revisions (tenant_id, comment_id, version, body, created_at)
    select tenant_id, id, version, body, created_at
    from added`
}

export async function selectComment(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<CommentRow | undefined> {
  const [row] = await sql<CommentRow[]>`
    ${selectJoined(sql)}
    where c.tenant_id = ${ctx.tenantId}
      and c.id = ${id}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/** Oldest first. Uses index task_comments_by_task. Reads one row more than the page holds. */
export async function selectComments(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; taskId: string },
): Promise<CommentRow[]> {
  const { page, taskId } = filter
  return await sql<CommentRow[]>`
    select *
    from (
      ${selectJoined(sql)}
      where c.tenant_id = ${ctx.tenantId}
        and c.task_id = ${taskId}
    ) as found
    where true
      ${newerThan(sql, page)}
    order by created_at, id
    limit ${page.limit + 1}`
}

/** The next version of a comment, with the revision that keeps it. */
export async function updateCommentBody(
  sql: Sql,
  ctx: Tenancy,
  comment: { id: string; body: string },
): Promise<void> {
  await sql`
    with changed as (
      update task_comments
      set body = ${comment.body}, version = version + 1, updated_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and id = ${comment.id}
      returning tenant_id, id, version, body, updated_at)
    insert into task_comment_revisions (tenant_id, comment_id, version, body, created_at)
    select tenant_id, id, version, body, updated_at
    from changed`
}

export interface RevisionRow {
  /** Made of the version, for the cursor of a page. */
  id: string
  version: number
  body: string
  createdAt: Date
}

/** First version first. Uses the primary key. Reads one row more than the page holds. */
export async function selectRevisions(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; commentId: string },
): Promise<RevisionRow[]> {
  const { page, commentId } = filter
  return await sql<RevisionRow[]>`
    select *
    from (
      select lpad(to_hex(version), 32, '0')::uuid as id, version, body, created_at
      from task_comment_revisions
      where tenant_id = ${ctx.tenantId}
        and comment_id = ${commentId}
    ) as found
    where true
      ${newerThan(sql, page)}
    order by created_at, id
    limit ${page.limit + 1}`
}
