import type { Referenced } from '#contract/external-references.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { readEntity } from './entity.ts'
import { deleteReference } from './reference.sql.ts'
import type { ReferenceRow } from './reference.sql.ts'

/** Forgets a name elsewhere, which is free for another thing then. Throws `not_found`. */
export async function removeReference(
  sql: Sql,
  ctx: Ctx,
  input: { of: Referenced; ref: string; referenceId: string },
): Promise<ReferenceRow> {
  const { of, ref, referenceId: id } = input
  await lockEntities(sql, ctx, [{ type: 'external_reference', id }])
  const entity = await readEntity(sql, ctx, of, ref)
  const removed = found(await deleteReference(sql, ctx, { id, entity }), 'external reference', id)
  const { entityType, entityId, system, type, externalId } = removed
  await appendEvent(sql, ctx, {
    type: 'external_reference.removed',
    entityType: 'external_reference',
    entityId: id,
    entityVersion: 2,
    workspaceId: entity.workspaceId,
    payload: { entityType, entityId, system, type, externalId },
  })
  return removed
}
