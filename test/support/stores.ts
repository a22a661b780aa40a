import type { TestContext } from 'node:test'
import { createFolderStore } from '#blobs/folder-store.ts'
import { createS3Store } from '#blobs/s3-store.ts'
import type { BlobStore } from '#blobs/store.ts'
import { temporaryFolder } from './embedded.ts'
import { startS3 } from './s3-server.ts'

/** Opens a new empty store; each call of what it answers is another process with the same store. */
type OpenStore = (t: TestContext) => Promise<() => BlobStore>

/** Every kind of store by its name. TEST_S3_URL=http://key:secret@host:port/bucket adds that service. */
export const STORES: Readonly<Record<string, OpenStore>> = {
  'a folder': async (t) => {
    const folder = await temporaryFolder(t)
    return () => createFolderStore(folder)
  },
  'a bucket': async (t) => {
    const { bucket } = await startS3(t)
    return () => createS3Store(bucket)
  },
  ...givenService(process.env['TEST_S3_URL']),
}

function givenService(text: string | undefined): Record<string, OpenStore> {
  if (text === undefined) return {}
  const { origin, username, password, pathname } = new URL(text)
  return {
    [`the bucket at ${origin}`]: () =>
      Promise.resolve(() =>
        createS3Store({
          endpoint: origin,
          bucket: pathname.slice(1),
          region: 'us-east-1',
          accessKeyId: username,
          secretAccessKey: password,
          sessionToken: undefined,
          prefix: 'strata-tests/',
          isPathStyle: true,
        }),
      ),
  }
}
