import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import { databaseUrl } from '#db/address.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDatabase } from '../support/db.ts'
import { temporaryFolder } from '../support/embedded.ts'
import { startRole } from '../support/program.ts'
import {
  announcedText,
  beginUpload,
  completeUpload,
  putPart,
  someBytes,
} from '../support/upload.ts'
import { waitFor } from '../support/wait.ts'

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath }) => parentPath)
}

function isDraft(path: string): boolean {
  return path.includes('drafts')
}

describe('an api process that is killed while it receives a part', () => {
  it('loses that part alone: another one goes on with the same upload, and nothing is left behind', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const folder = await temporaryFolder(t)
    const settings = {
      CP_DATABASE_URL: databaseUrl(address('app')),
      CP_PORT: '0',
      CP_ARTIFACT_FOLDER: folder,
      CP_WORKER_POLL_SECONDS: '0.05',
    }
    const programs = [startRole(t, 'api', settings), startRole(t, 'api', settings)]
    const urls = await Promise.all(
      programs.map(async (one) => (await one.hears(/is ready at (\S+)/))[1] ?? ''),
    )
    const { ctx, key: token } = await testTenant(db)
    const [first, second] = urls.map((url) => ({ url, token }))
    assert.ok(first && second)
    const bytes = someBytes(400_000)
    const { id } = await beginUpload(first, bytes)
    await putPart(first, { id, number: 1 }, bytes.slice(0, 100_000))

    const rest = bytes.slice(100_000)
    let isSent = false
    const stalled = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!isSent) controller.enqueue(rest.slice(0, 200_000))
        isSent = true
      },
    })
    const cut = send(first, uploads.putUploadPart, {
      params: { id, number: '2' },
      query: announcedText(rest),
      bytes: stalled,
    }).then(
      () => 'answered',
      () => 'cut',
    )
    await waitFor(async () => (await filesIn(folder)).some(isDraft), 60)
    programs[0]?.kill('SIGKILL')
    assert.equal(await cut, 'cut')

    const { parts } = await call(second, uploads.getArtifactUpload, { params: { id } })
    assert.deepEqual(
      parts.map(({ number }) => number),
      [1],
    )
    await putPart(second, { id, number: 2 }, rest)
    await completeUpload(second, id)
    const artifact = await call(second, artifacts.createArtifact, {
      body: { type: 'log', name: 'l', contentRef: id },
    })
    await db`
      update loose_objects
      set remove_after = now()
      where tenant_id = ${ctx.tenantId}`
    const worker = startRole(t, 'worker', settings)
    await waitFor(async () => (await filesIn(folder)).length === 1, 60)
    const content = await send(second, artifacts.getArtifactContent, {
      params: { id: artifact.id },
    })
    assert.deepEqual(new Uint8Array(await content.arrayBuffer()), bytes)
    for (const one of [programs[1], worker]) {
      one?.kill('SIGTERM')
      assert.equal(await one?.ended, 0, one?.said())
    }
  })
})
