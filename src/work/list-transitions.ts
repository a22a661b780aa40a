import type { Transitions } from '#contract/transitions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { transitionsFrom } from '#task-types/lifecycle.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'
import { selectTask } from './task.sql.ts'

/** Where a task can go from its status, as its type declares. Throws `not_found`. */
export async function listTransitions(sql: Sql, ctx: Ctx, ref: string): Promise<Transitions> {
  const task = found(await selectTask(sql, ctx, ref), 'task', ref)
  const { typeKey: key, typeVersion: version, status } = task
  const { lifecycle } = found(await selectTaskType(sql, ctx, { key, version }), 'task type', key)
  return {
    taskId: task.id,
    status,
    systemStatusCategory: task.statusCategory,
    transitions: transitionsFrom(lifecycle, status),
  }
}
