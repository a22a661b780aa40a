import type { Hono } from 'hono'
import * as comments from '#contract/comments.ts'
import type { Comment, CommentRevision } from '#contract/comments.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { selectComment, selectComments, selectRevisions } from './comment.sql.ts'
import type { CommentRow, RevisionRow } from './comment.sql.ts'
import { createComment } from './create-comment.ts'
import { updateComment } from './update-comment.ts'

export function commentsRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, comments.createComment, async (sql, ctx, { params, body }) =>
    commentReply(await createComment(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, comments.listComments, async (sql, ctx, { params: { ref }, query }) => {
    const taskId = found(await selectTaskId(sql, ctx, ref), 'task', ref)
    const page = pageRequest(`comments/${taskId}`, query)
    return pageOf(page, await selectComments(sql, ctx, { page, taskId }), commentReply)
  })
  bind(app, deps, comments.getComment, async (sql, ctx, { params: { id } }) =>
    commentReply(found(await selectComment(sql, ctx, id), 'comment', id)),
  )
  bind(app, deps, comments.updateComment, async (sql, ctx, { params, body, expectedVersion }) =>
    commentReply(await updateComment(sql, ctx, { ...params, ...body, expectedVersion })),
  )
  bind(app, deps, comments.listCommentRevisions, async (sql, ctx, { params, query }) => {
    const { id: commentId } = found(await selectComment(sql, ctx, params.id), 'comment', params.id)
    const page = pageRequest(`comment-revisions/${commentId}`, query)
    return pageOf(page, await selectRevisions(sql, ctx, { page, commentId }), revisionReply)
  })
}

function commentReply(row: CommentRow): Comment {
  const { workspaceId: _, createdAt, updatedAt, ...shown } = row
  return { ...shown, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}

function revisionReply({ version, body, createdAt }: RevisionRow): CommentRevision {
  return { version, body, createdAt: createdAt.toISOString() }
}
