import type { Hono } from 'hono'
import { selectArtifact } from '#artifacts/artifact.sql.ts'
import * as approvals from '#contract/approvals.ts'
import type { RouteInput } from '#contract/route.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { placesOf } from '#work/places-of.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { selectApproval, selectApprovals } from './approval.sql.ts'
import type { ApprovalFilter } from './approval.sql.ts'
import { addressedFilter, addressedOnly, decidableFilter } from './concerning.ts'
import { approve, cancelApproval, reject } from './decide-approval.ts'
import { approvalReply } from './replies.ts'
import { requestApproval } from './request-approval.ts'

export function approvalsRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, approvals.requestApproval, async (sql, ctx, { body }) =>
    approvalReply(await requestApproval(sql, ctx, body)),
  )
  bind(app, deps, approvals.listApprovals, async (sql, ctx, { query }) =>
    listApprovals(sql, ctx, query),
  )
  bind(app, deps, approvals.getApproval, async (sql, ctx, { params: { id } }) =>
    approvalReply(found(await selectApproval(sql, ctx, id), 'approval', id)),
  )
  bind(app, deps, approvals.approve, async (sql, ctx, { params, body }) =>
    approvalReply(await approve(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, approvals.reject, async (sql, ctx, { params, body }) =>
    approvalReply(await reject(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, approvals.cancelApproval, async (sql, ctx, { params, body }) =>
    approvalReply(await cancelApproval(sql, ctx, { ...params, ...body })),
  )
}

type Query = RouteInput<typeof approvals.listApprovals>['query']

async function listApprovals(sql: Sql, ctx: Ctx, query: Query) {
  const { limit: _, cursor: __, ...narrowing } = query
  const page = pageRequest(`approvals?${JSON.stringify(narrowing)}`, query)
  const given = await filterOf(sql, ctx, query)
  const own = await concerningMe(sql, ctx, query)
  const contradicts = given.status !== undefined && own?.status !== undefined
  if (!own || (contradicts && given.status !== own.status)) return { items: [], nextCursor: null }
  const rows = await selectApprovals(sql, ctx, { ...given, ...own, page })
  const { items, nextCursor } = pageOf(page, rows, (row) => row)
  const shown = own.addressee ? await addressedOnly(sql, ctx, items) : items
  return { items: shown.map(approvalReply), nextCursor }
}

async function filterOf(sql: Sql, ctx: Ctx, query: Query): Promise<ApprovalFilter> {
  const { status, taskId: ref, artifactId } = query
  const taskId = ref && found(await selectTaskId(sql, ctx, ref), 'task', ref)
  if (artifactId) found(await selectArtifact(sql, ctx, artifactId), 'artifact', artifactId)
  return { status, taskId, artifactId, workspaceIds: await placesOf(sql, ctx, query) }
}

/** Undefined when nothing concerns the caller in the way asked for. */
async function concerningMe(
  sql: Sql,
  ctx: Ctx,
  { assignedToMe = false, decidableByMe = false }: Query,
): Promise<ApprovalFilter | undefined> {
  if (decidableByMe) return await decidableFilter(sql, ctx)
  return assignedToMe ? await addressedFilter(sql, ctx) : {}
}
