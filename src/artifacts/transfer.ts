import type { BlobStore } from '#blobs/store.ts'
import type { Transact } from '#db/sql.ts'
import type { UploadLimits } from './upload.ts'

/** What a command that moves bytes works with: it opens short transactions itself, none while it moves them. */
export interface Transfer {
  transact: Transact
  store: BlobStore
  limits: UploadLimits
  /** Told how many bytes a caller has uploaded. */
  stored: (bytes: number) => void
}
