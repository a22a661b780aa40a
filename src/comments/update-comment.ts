import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requireVersion } from '#org/version.ts'
import { selectComment, updateCommentBody } from './comment.sql.ts'
import type { CommentRow } from './comment.sql.ts'

/**
 * Changes what a comment of the caller says; the version before stays readable. The same text again
 * writes nothing. Throws `not_found`, `permission_denied` for another's comment, `version_conflict`.
 */
export async function updateComment(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; body: string; expectedVersion: number },
): Promise<CommentRow> {
  const { id, body, expectedVersion } = input
  await lockEntities(sql, ctx, [{ type: 'comment', id }])
  const before = found(await selectComment(sql, ctx, id), 'comment', id)
  if (before.authorId !== ctx.actorId) {
    throw new AppError('permission_denied', `Cannot change comment "${id}": it is another's`, {
      details: { required: 'author' },
    })
  }
  requireVersion('comment', before, expectedVersion)
  if (body === before.body) return before
  await updateCommentBody(sql, ctx, { id, body })
  const after = found(await selectComment(sql, ctx, id), 'comment', id)
  await appendEvent(sql, ctx, {
    type: 'comment.updated',
    entityType: 'comment',
    entityId: id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { taskId: after.taskId, version: after.version },
  })
  return after
}
