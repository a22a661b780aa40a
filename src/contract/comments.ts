import { z } from 'zod'
import { FencingToken, Id, page, pageQuery, TaskRef, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

const Body = text(20_000)

export const NewComment = z
  .strictObject({
    body: Body,
    /** The run that speaks; it does so under the claim of the task. */
    runId: Id.optional(),
    claimId: Id.optional(),
    fencingToken: FencingToken.optional(),
  })
  .refine(
    ({ runId, claimId, fencingToken }) =>
      (runId === undefined && claimId === undefined) === (fencingToken === undefined),
    'must have the fencingToken together with runId or claimId',
  )
  .meta({ id: 'NewComment' })
export type NewComment = z.output<typeof NewComment>

export const Comment = z
  .strictObject({
    id: z.uuid(),
    taskId: z.uuid(),
    authorId: z.uuid(),
    body: z.string(),
    runId: z.uuid().nullable(),
    /** The claim under which the comment was made, if any. */
    claimId: z.uuid().nullable(),
    /** 1 until the author changes the comment. */
    version: z.int(),
    createdAt: UtcInstant,
    updatedAt: UtcInstant,
  })
  .meta({ id: 'Comment' })
export type Comment = z.infer<typeof Comment>

export const CommentRevision = z
  .strictObject({ version: z.int(), body: z.string(), createdAt: UtcInstant })
  .meta({ id: 'CommentRevision' })
export type CommentRevision = z.infer<typeof CommentRevision>

const tag = 'Comments'
const byId = z.strictObject({ id: Id })

export const createComment = route({
  method: 'POST',
  path: '/api/v1/tasks/{ref}/comments',
  summary: 'Comment on a task; as a run only under the live claim',
  tag,
  access: 'tasks.write',
  statuses: [201],
  errors: ['not_found', 'stale_claim', 'claim_holder_mismatch', 'run_not_active'],
  etag: 'comment',
  params: z.strictObject({ ref: TaskRef }),
  body: NewComment,
  reply: Comment,
})

export const listComments = route({
  method: 'GET',
  path: '/api/v1/tasks/{ref}/comments',
  summary: 'Comments on a task, oldest first',
  tag,
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: z.strictObject({ ref: TaskRef }),
  query: z.strictObject(pageQuery),
  reply: page(Comment),
})

export const getComment = route({
  method: 'GET',
  path: '/api/v1/comments/{id}',
  summary: 'One comment',
  tag,
  access: 'tasks.read',
  errors: ['not_found'],
  etag: 'comment',
  params: byId,
  reply: Comment,
})

export const updateComment = route({
  method: 'PATCH',
  path: '/api/v1/comments/{id}',
  summary: "Change a comment of one's own; what it said before is kept",
  tag,
  access: 'tasks.write',
  errors: ['not_found', 'version_conflict', 'if_match_required', 'invalid_if_match'],
  etag: 'comment',
  ifMatch: 'comment',
  params: byId,
  body: z.strictObject({ body: Body }),
  reply: Comment,
})

export const listCommentRevisions = route({
  method: 'GET',
  path: '/api/v1/comments/{id}/revisions',
  summary: 'What a comment said, first version first',
  tag,
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(CommentRevision),
})

export const routes = {
  createComment,
  listComments,
  getComment,
  updateComment,
  listCommentRevisions,
}
