import type { Sql } from '#db/sql.ts'
import type { Entity } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { selectHasAdmin } from './principal.sql.ts'

/** The lock under which administrators are taken away, so that the last two cannot end each other. */
export function adminsEntity(ctx: Ctx): Entity {
  return { type: 'admins', id: ctx.tenantId }
}

/**
 * Makes a change that may take an administrator away, under the lock of `adminsEntity`. Throws
 * `last_admin_required`, having changed nothing, when a tenant that has one would have none afterwards.
 */
export async function keepAdmin<T>(sql: Sql, ctx: Ctx, change: () => Promise<T>): Promise<T> {
  const had = await selectHasAdmin(sql, ctx)
  const result = await change()
  if (!had || (await selectHasAdmin(sql, ctx))) return result
  throw new AppError(
    'last_admin_required',
    'Cannot do this: nobody would be left to administer the tenant',
  )
}
