import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { createTenant } from './create-tenant.ts'
import type { CreatedTenant, NewTenant } from './create-tenant.ts'
import { insertInstallation } from './tenant.sql.ts'

/**
 * The first start of an installation: its tenant, first person and admin key, once. Of several at the
 * same moment one wins and the rest wait for it, then throw `already_bootstrapped`. `ctx` names the
 * tenant and the person to be made (see `strangerCtx`).
 */
export async function bootstrap(sql: Sql, ctx: Ctx, input: NewTenant): Promise<CreatedTenant> {
  if (!(await insertInstallation(sql, ctx))) {
    throw new AppError('already_bootstrapped', 'Cannot bootstrap: this installation already was')
  }
  return await createTenant(sql, ctx, input)
}
