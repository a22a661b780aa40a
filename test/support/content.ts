import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContentOptions } from '#artifacts/routes.ts'
import { createFolderStore } from '#blobs/folder-store.ts'

/** A folder that is gone when this process ends. */
function processFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'strata-content-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Largest content of an artifact in the tests. */
export const TEST_MAX_CONTENT_BYTES = 32 << 20

/** Content of its own for an application of a test. */
export function testContent(changes: Partial<ContentOptions> = {}): ContentOptions {
  return {
    store: createFolderStore(processFolder()),
    limits: { maxBytes: TEST_MAX_CONTENT_BYTES, ttlSeconds: 3600 },
    meter: { stored: () => {}, served: () => {} },
    ...changes,
  }
}
