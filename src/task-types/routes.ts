import type { Hono } from 'hono'
import * as types from '#contract/task-types.ts'
import type { TaskType } from '#contract/task-types.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createTaskType } from './create-task-type.ts'
import { selectTaskType, selectTaskTypes } from './task-type.sql.ts'
import type { TaskTypeRow } from './task-type.sql.ts'

export function taskTypesRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, types.createTaskType, async (sql, ctx, { body }) =>
    taskTypeReply(await createTaskType(sql, ctx, body)),
  )
  bind(app, deps, types.listTaskTypes, async (sql, ctx, { query }) => {
    const { key, versions } = query
    const page = pageRequest(`task-types?${JSON.stringify({ key, versions })}`, query)
    const newestOnly = versions === 'newest'
    return pageOf(page, await selectTaskTypes(sql, ctx, { page, key, newestOnly }), taskTypeReply)
  })
  bind(app, deps, types.getTaskType, async (sql, ctx, { params }) =>
    taskTypeReply(found(await selectTaskType(sql, ctx, params), 'task type', params.key)),
  )
  bind(app, deps, types.getTaskTypeVersion, async (sql, ctx, { params }) =>
    taskTypeReply(found(await selectTaskType(sql, ctx, params), 'task type', params.key)),
  )
}

function taskTypeReply({ lifecycle, createdAt, ...row }: TaskTypeRow): TaskType {
  return { ...row, lifecycleSchema: lifecycle, createdAt: createdAt.toISOString() }
}
