import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from '#org/permission.ts'
import { insertCapability } from './capability.sql.ts'
import type { CapabilityRow } from './capability.sql.ts'

/** Adds a capability of the tenant. Throws `capability_exists` for a name that is taken. */
export async function createCapability(
  sql: Sql,
  ctx: Ctx,
  input: { name: string; description: string },
): Promise<CapabilityRow> {
  requirePermission(ctx, 'org.manage')
  const id = newId()
  await lockEntities(sql, ctx, [{ type: 'capability', id }])
  const capability = await insertCapability(sql, ctx, { ...input, id }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'capability_name_unique')) throw cause
    throw new AppError('capability_exists', `Cannot use name "${input.name}": it is taken`, {
      details: { name: input.name },
      cause,
    })
  })
  await appendEvent(sql, ctx, {
    type: 'capability.created',
    entityType: 'capability',
    entityId: capability.id,
    entityVersion: capability.version,
    workspaceId: null,
    payload: { name: capability.name },
  })
  return capability
}
