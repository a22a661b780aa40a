import { isPgError, PG, transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { deleteBlob, lockCandidate, selectCandidates, updateBlobKept } from './blob.sql.ts'
import type { Candidate } from './blob.sql.ts'
import { deleteRemoved, insertLooseObject, updateDueRemoving } from './loose-object.sql.ts'
import type { BlobStore } from './store.ts'
import { GRACE_SECONDS } from './write-blob.ts'

/** How long one worker may take to remove what it has marked, before another tries too. */
const REMOVING_SECONDS = 600

/**
 * Lets go of blobs that nothing refers to, and removes objects whose time is up from the store; at most
 * `limit` of each. What refers to a blob is known by the foreign keys to it, so nothing can be forgotten.
 * Safe from any number of workers, and after a crash at any point. Answers how many objects were removed;
 * throws what the store throws, and tries those objects again later.
 */
export async function collectBlobs(db: Database, store: BlobStore, limit: number): Promise<number> {
  for (const candidate of await selectCandidates(db, limit)) await collect(db, candidate)
  const due = await updateDueRemoving(db, { limit, leaseSeconds: REMOVING_SECONDS })
  for (const object of due) {
    await store.remove(object.objectKey)
    await deleteRemoved(db, object)
  }
  return due.length
}

async function collect(db: Database, candidate: Candidate): Promise<void> {
  try {
    await transaction(db, 'read write', async (sql) => {
      const blob = await lockCandidate(sql, candidate)
      if (!blob) return
      await deleteBlob(sql, candidate)
      const { objectKey } = blob
      if (objectKey === null) return
      await insertLooseObject(sql, candidate, { objectKey, seconds: GRACE_SECONDS })
    })
  } catch (error) {
    if (!isPgError(error, PG.foreignKeyViolation)) throw error
    await updateBlobKept(db, candidate)
  }
}
