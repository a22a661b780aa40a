import type { NewExternalReference, Referenced } from '#contract/external-references.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { READ, readEntity, selectEntity } from './entity.ts'
import { insertReference, selectReferenceByKey } from './reference.sql.ts'
import type { ReferenceRow } from './reference.sql.ts'

/**
 * Says what something here is called elsewhere. One name elsewhere is one thing here: the same again
 * answers what is stored and writes nothing, also when both come at the same moment.
 *
 * Throws `not_found`, and `external_reference_conflict` when the name is another thing's, which is named
 * if the caller can see it.
 */
export async function addReference(
  sql: Sql,
  ctx: Ctx,
  input: NewExternalReference & { of: Referenced; ref: string },
): Promise<{ reference: ReferenceRow; added: boolean }> {
  const { of, ref, system, type, externalId, url = null } = input
  const id = newId()
  await lockEntities(sql, ctx, [{ type: 'external_reference', id }])
  const { id: entityId, workspaceId } = await readEntity(sql, ctx, of, ref)
  const key = { system, type, externalId }
  const added = await insertReference(sql, ctx, { id, ...key, url, entityType: of, entityId })
  if (!added) {
    const stored = await selectReferenceByKey(sql, ctx, key)
    const reference = found(stored, 'external reference', externalId)
    if (reference.entityType === of && reference.entityId === entityId) {
      return { reference, added: false }
    }
    throw await conflict(sql, ctx, reference)
  }
  await appendEvent(sql, ctx, {
    type: 'external_reference.added',
    entityType: 'external_reference',
    entityId: id,
    entityVersion: 1,
    workspaceId,
    payload: { entityType: of, entityId, ...key },
  })
  return { reference: added, added: true }
}

async function conflict(sql: Sql, ctx: Ctx, reference: ReferenceRow): Promise<AppError> {
  const { entityType, entityId, system, type } = reference
  const seen =
    permits(ctx.permissions, READ[entityType]) &&
    (await selectEntity(sql, ctx, entityType, entityId))
  return new AppError(
    'external_reference_conflict',
    `Cannot add the external reference: this ${type} of ${system} is another thing's`,
    { details: seen ? { entityType, entityId } : {} },
  )
}
