import type { PrincipalKind } from '#contract/org.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from './permission.ts'
import { insertPrincipal } from './principal.sql.ts'
import type { PrincipalRow } from './principal.sql.ts'

/** Adds a principal, active and without a credential. */
export async function createPrincipal(
  sql: Sql,
  ctx: Ctx,
  input: { kind: PrincipalKind; displayName: string },
): Promise<PrincipalRow> {
  requirePermission(ctx, 'principals.write')
  const id = newId()
  await lockEntities(sql, ctx, [{ type: 'principal', id }])
  const principal = await insertPrincipal(sql, ctx, { ...input, id })
  await appendEvent(sql, ctx, {
    type: 'principal.created',
    entityType: 'principal',
    entityId: id,
    entityVersion: principal.version,
    workspaceId: null,
    payload: input,
  })
  return principal
}
