import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { insertBlob, lockBlob, updateBlobObject } from './blob.sql.ts'
import type { StoredBlobRow } from './blob.sql.ts'
import { deleteLooseObject, insertLooseObject, releaseLooseObjects } from './loose-object.sql.ts'
import { newObjectKey } from './object-key.ts'
import { WRITE_LIMIT_SECONDS } from './put-verified.ts'

/** Nobody reads an object for longer after it was replaced, and no write goes on for longer. */
export const GRACE_SECONDS = WRITE_LIMIT_SECONDS

/**
 * Writes down that an object is about to be made, and answers its key. To be committed before the first
 * byte goes to the store: whatever happens then, the object is kept or removed. It is removed only after
 * twice the time that a write may take, so never while it is being made.
 */
export async function announceObject(sql: Sql, ctx: Tenancy, sha256: string): Promise<string> {
  const objectKey = newObjectKey(ctx.tenantId, sha256)
  await insertLooseObject(sql, ctx, { objectKey, seconds: 2 * WRITE_LIMIT_SECONDS })
  return objectKey
}

/**
 * Lets an object that is written be what the tenant has of these bytes; the row is locked until the
 * transaction ends. The object that was it before is removed after a while: the new one is known to be
 * whole. Nothing here depends on whether the bytes were known. Throws `content_unavailable` when it took
 * so long that the object is being removed.
 */
export async function adoptObject(sql: Sql, ctx: Tenancy, blob: StoredBlobRow): Promise<void> {
  const { objectKey, sha256 } = blob
  for (;;) {
    const known = await lockBlob(sql, ctx, sha256)
    if (known?.objectKey === null) {
      await releaseLooseObjects(sql, ctx, { objectKeys: [objectKey], seconds: 0 })
      return
    }
    if (known) {
      await take(sql, ctx, objectKey)
      await updateBlobObject(sql, ctx, blob)
      await insertLooseObject(sql, ctx, { objectKey: known.objectKey, seconds: GRACE_SECONDS })
      return
    }
    if (await insertBlob(sql, ctx, blob)) {
      await take(sql, ctx, objectKey)
      return
    }
  }
}

async function take(sql: Sql, ctx: Tenancy, objectKey: string): Promise<void> {
  if (await deleteLooseObject(sql, ctx, objectKey)) return
  throw new AppError('content_unavailable', 'Cannot keep the content: writing it took too long')
}
