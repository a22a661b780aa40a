import { permits } from '#contract/permissions.ts'
import type { Claimability } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { handleOf } from './child-task.ts'
import { selectActiveClaim } from './claim.sql.ts'
import { claimObstacles } from './obstacles.ts'
import { selectTask } from './task.sql.ts'

/** Whether a claim would succeed at this moment and every reason against it, by the claim's own rules. */
export async function claimability(sql: Sql, ctx: Ctx, ref: string): Promise<Claimability> {
  const task = found(await selectTask(sql, ctx, ref), 'task', ref)
  const obstacles = await claimObstacles(sql, ctx, task, await selectActiveClaim(sql, ctx, task.id))
  const isOfAnother = handleOf(task) !== (ctx.childGrant?.handleId ?? null)
  const reasons = new Set([
    ...(isOfAnother ? ['task_not_claimable' as const] : []),
    ...obstacles.map(({ code }) => code),
    ...(permits(ctx.permissions, 'tasks.claim') ? [] : ['permission_denied' as const]),
  ])
  return { taskId: task.id, claimable: reasons.size === 0, reasons: [...reasons] }
}
