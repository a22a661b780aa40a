import { markForCollection } from '#blobs/blob.sql.ts'
import { releaseLooseObjects } from '#blobs/loose-object.sql.ts'
import { GRACE_SECONDS } from '#blobs/write-blob.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { deleteParts } from './upload-part.sql.ts'
import { deleteUpload, lockExpiredUpload } from './upload.sql.ts'

/**
 * Removes uploads whose time is up, at most `limit`; their parts, and content that no artifact has named,
 * are left to the collector. Safe from any number of workers. Answers how many.
 */
export async function expireUploads(db: Database, limit: number): Promise<number> {
  for (let count = 0; count < limit; count += 1) {
    if (!(await expireOne(db))) return count
  }
  return limit
}

async function expireOne(db: Database): Promise<boolean> {
  return await transaction(db, 'read write', async (sql) => {
    const upload = await lockExpiredUpload(sql)
    if (!upload) return false
    const objectKeys = await deleteParts(sql, upload, upload.id)
    await releaseLooseObjects(sql, upload, { objectKeys, seconds: GRACE_SECONDS })
    await deleteUpload(sql, upload)
    const { blobSha256: sha256 } = upload
    const marked = { sha256: sha256 ?? '', graceSeconds: GRACE_SECONDS }
    if (sha256 !== null) await markForCollection(sql, upload, marked)
    return true
  })
}
