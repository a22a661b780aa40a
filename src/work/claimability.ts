import type { Claimability } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { handleOf } from './child-task.ts'
import { selectActiveClaim } from './claim.sql.ts'
import { claimObstacle } from './task.ts'
import { selectTask } from './task.sql.ts'

/** Whether a claim would succeed at this moment, by the same rule as the claim itself. */
export async function claimability(sql: Sql, ctx: Ctx, ref: string): Promise<Claimability> {
  const task = found(await selectTask(sql, ctx, ref), 'task', ref)
  const isChilds = handleOf(task) !== (ctx.childGrant?.handleId ?? null)
  const obstacle = isChilds
    ? 'task_not_claimable'
    : claimObstacle(task, await selectActiveClaim(sql, ctx, task.id))
  return { taskId: task.id, claimable: !obstacle, reasons: obstacle ? [obstacle] : [] }
}
