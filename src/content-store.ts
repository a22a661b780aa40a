import { join } from 'node:path'
import { createFolderStore } from '#blobs/folder-store.ts'
import { observedStore } from '#blobs/observed-store.ts'
import { createS3Store } from '#blobs/s3-store.ts'
import type { BlobStore } from '#blobs/store.ts'
import type { Log } from '#lib/log.ts'
import { createReading } from '#lib/reading.ts'
import type { Finding } from '#observe/health.ts'
import type { Metrics } from '#observe/metrics.ts'
import type { Config } from './config.ts'

/** Where this process keeps large content; every process of an installation must have the same. */
export function openContentStore(config: Config, metrics: Metrics): BlobStore {
  return observedStore(storeOf(config), (operation) =>
    metrics.contentStoreFailures.inc({ operation }),
  )
}

function storeOf(config: Config): BlobStore {
  const { CP_S3_BUCKET: bucket, CP_S3_REGION: region, CP_ARTIFACT_FOLDER: folder } = config
  if (bucket === undefined) return createFolderStore(folder ?? join(config.STRATA_DATA, 'blobs'))
  const endpoint = config.CP_S3_ENDPOINT
  return createS3Store({
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    bucket,
    region,
    accessKeyId: config.CP_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: config.CP_S3_SECRET_ACCESS_KEY ?? '',
    sessionToken: config.CP_S3_SESSION_TOKEN,
    prefix: config.CP_S3_PREFIX,
    isPathStyle: config.CP_S3_PATH_STYLE ?? endpoint !== undefined,
  })
}

/** Storing a probe costs a write: now and then is often enough, and within the patience of health. */
const PROBING = { freshSeconds: 10, patienceSeconds: 1.5 }

/** Whether large content can be stored; the log is told why not. */
export function contentCheck(store: BlobStore, log: Log): () => Promise<Finding> {
  const probe = createReading(async () => {
    try {
      await store.check()
    } catch (error) {
      log.error('Large content cannot be stored', error)
      throw error
    }
  }, PROBING)
  return async () => {
    const { kind } = await probe()
    return kind === 'read'
      ? { status: 'ok' }
      : { status: 'failed', problem: 'large content cannot be stored' }
  }
}
