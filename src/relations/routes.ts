import type { Hono } from 'hono'
import * as relations from '#contract/relations.ts'
import type { Relation } from '#contract/relations.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { publicIdOf } from '#work/task.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { addRelation } from './add-relation.ts'
import { selectRelations } from './relation.sql.ts'
import type { RelationRow } from './relation.sql.ts'
import { removeRelation } from './remove-relation.ts'

export function relationsRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, relations.addRelation, async (sql, ctx, { params, body }) =>
    relationReply(await addRelation(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, relations.listRelations, async (sql, ctx, { params: { ref }, query }) => {
    const { type, direction } = query
    const taskId = found(await selectTaskId(sql, ctx, ref), 'task', ref)
    const page = pageRequest(`relations?${JSON.stringify({ taskId, type, direction })}`, query)
    const rows = await selectRelations(sql, ctx, { page, taskId, type, direction })
    return pageOf(page, rows, relationReply)
  })
  bind(app, deps, relations.removeRelation, async (sql, ctx, { params }) =>
    relationReply(await removeRelation(sql, ctx, params)),
  )
}

function relationReply({ fromNumber, toNumber, createdAt, ...row }: RelationRow): Relation {
  return {
    ...row,
    fromTaskPublicId: publicIdOf(fromNumber),
    toTaskPublicId: publicIdOf(toNumber),
    createdAt: createdAt.toISOString(),
  }
}
