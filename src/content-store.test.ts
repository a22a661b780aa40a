import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createMetrics } from '#observe/metrics.ts'
import { createLog } from '#lib/log.ts'
import type { LogLine } from '#lib/log.ts'
import { sharedDb } from '../test/support/db.ts'
import { temporaryFolder } from '../test/support/embedded.ts'
import { startS3 } from '../test/support/s3-server.ts'
import { waitFor } from '../test/support/wait.ts'
import { readConfig } from './config.ts'
import { openContentStore } from './content-store.ts'
import { createProbes } from './probing.ts'

const db = await sharedDb()

/** What health says in the end of a process with these settings, what it logs, and its metrics. */
async function healthWith(settings: Record<string, string>, isWell = true) {
  const metrics = createMetrics()
  const lines: LogLine[] = []
  const log = createLog((line) => lines.push(line), { now: () => new Date(), least: 'error' })
  const store = openContentStore(readConfig(settings), metrics)
  const probes = createProbes({ role: 'api', log, metrics, controlPlane: db, store })
  await waitFor(async () => {
    const { isReady } = await probes.health()
    return isWell ? isReady : lines.length > 0
  })
  const health = await probes.health()
  const failures = await metrics.contentStoreFailures.get()
  return { health, lines, failures: failures.values.map(({ labels, value }) => [labels, value]) }
}

describe('the store of large content', () => {
  it('is a folder in the data folder, or the one that is named, and is well when it takes bytes', async (t) => {
    const folder = await temporaryFolder(t)
    for (const settings of [{ STRATA_DATA: folder }, { CP_ARTIFACT_FOLDER: join(folder, 'own') }]) {
      const { health, lines, failures } = await healthWith(settings)
      assert.deepEqual([health.isReady, health.checks['content']], [true, { status: 'ok' }])
      assert.deepEqual([lines, failures], [[], []])
    }
  })

  it('is a bucket when one is named', async (t) => {
    const { bucket, asked } = await startS3(t)
    const settings = {
      CP_S3_BUCKET: bucket.bucket,
      CP_S3_ENDPOINT: bucket.endpoint,
      CP_S3_REGION: bucket.region,
      CP_S3_ACCESS_KEY_ID: bucket.accessKeyId,
      CP_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
      CP_S3_PREFIX: 'strata/',
    }
    const { health } = await healthWith(settings)
    assert.equal(health.isReady, true)
    assert.deepEqual(asked, [`PUT /${bucket.bucket}/strata/probe`])
    const wrong = await healthWith({ ...settings, CP_S3_SECRET_ACCESS_KEY: 'guessed' }, false)
    assert.deepEqual(wrong.health.problems, ['large content cannot be stored'])
    assert.match(JSON.stringify(wrong.lines), /SignatureDoesNotMatch/)
    assert.doesNotMatch(JSON.stringify(wrong.lines), /guessed/)
  })

  it('keeps a process from being ready while it takes no bytes, which the log and a metric tell', async (t) => {
    const file = join(await temporaryFolder(t), 'file')
    await writeFile(file, '')
    const { health, lines, failures } = await healthWith(
      { CP_ARTIFACT_FOLDER: join(file, 'below') },
      false,
    )
    assert.equal(health.isReady, false)
    assert.deepEqual(health.problems, ['large content cannot be stored'])
    assert.match(JSON.stringify(lines), /ENOTDIR/)
    assert.deepEqual(failures, [[{ operation: 'check' }, 1]])
  })
})
