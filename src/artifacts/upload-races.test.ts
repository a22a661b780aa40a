import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFolderStore } from '#blobs/folder-store.ts'
import { createS3Store } from '#blobs/s3-store.ts'
import type { BlobStore } from '#blobs/store.ts'
import { call, send } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import { releaseClaim } from '#contract/claims.ts'
import { updatePrincipal } from '#contract/org.ts'
import { testContent } from '../../test/support/content.ts'
import { sharedDb } from '../../test/support/db.ts'
import { temporaryFolder } from '../../test/support/embedded.ts'
import { startS3 } from '../../test/support/s3-server.ts'
import {
  announcedText,
  beginUpload,
  completeUpload,
  putPart,
  sendBytes,
  someBytes,
} from '../../test/support/upload.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

/** Bytes that arrive in two halves, with something happening in between. */
function interrupted(bytes: Uint8Array, meanwhile: () => Promise<unknown>) {
  const middle = Math.floor(bytes.length / 2)
  return ReadableStream.from(
    (async function* () {
      yield bytes.slice(0, middle)
      await meanwhile()
      yield bytes.slice(middle)
    })(),
  )
}

/** A store that waits before it gives out anything: somebody is reading, and the test says how long. */
function held(store: BlobStore) {
  const reading = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const get: BlobStore['get'] = async function* (key, range) {
    reading.resolve()
    await goOn.promise
    yield* store.get(key, range)
  }
  return { store: { ...store, get }, reading: reading.promise, goOn: () => goOn.resolve() }
}

async function countBlobs(tenantId: string): Promise<number> {
  const rows = await db`select 1 from blobs where tenant_id = ${tenantId}`
  return rows.length
}

describe('while bytes are on their way', () => {
  it('a claim that ends takes them with it', async () => {
    const { tenant, client } = await admin()
    const { task, fence } = await claimedTask(client)
    const { claimId, fencingToken } = fence
    const bytes = someBytes(1000)
    const query = {
      ...announcedText(bytes),
      taskId: task.id,
      claimId,
      fencingToken: String(fencingToken),
    }
    const release = () =>
      call(client, releaseClaim, { params: { id: claimId }, body: { fencingToken } })
    const late = call(client, uploads.sendArtifactContent, {
      query,
      bytes: interrupted(bytes, release),
    })
    await assert.rejects(late, { code: 'stale_claim' })
    assert.equal(await countBlobs(tenant.ctx.tenantId), 0)
  })

  it('a caller who is suspended keeps nothing', async () => {
    const { tenant, client } = await admin()
    const { key, ctx } = await tenant.caller(['artifacts.write'])
    const bytes = someBytes(1000)
    const suspend = () =>
      call(client, updatePrincipal, {
        params: { id: ctx.actorId },
        ifMatch: 1,
        body: { status: 'suspended' },
      })
    const late = call(clientOf(key), uploads.sendArtifactContent, {
      query: announcedText(bytes),
      bytes: interrupted(bytes, suspend),
    })
    await assert.rejects(late, { code: 'principal_not_active' })
    assert.equal(await countBlobs(tenant.ctx.tenantId), 0)
  })

  it('an upload that is given up takes no part any more', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    const { id } = await beginUpload(client, bytes)
    const abort = () => call(client, uploads.abortArtifactUpload, { params: { id } })
    const late = call(client, uploads.putUploadPart, {
      params: { id, number: '1' },
      query: announcedText(bytes),
      bytes: interrupted(bytes, abort),
    })
    await assert.rejects(late, { code: 'upload_not_open' })
  })

  it('two parts of one upload cannot be more than the whole', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    const { id } = await beginUpload(client, bytes)
    const other = () => putPart(client, { id, number: 2 }, bytes.slice(0, 600))
    const half = bytes.slice(0, 500)
    const late = call(client, uploads.putUploadPart, {
      params: { id, number: '1' },
      query: announcedText(half),
      bytes: interrupted(half, other),
    })
    await assert.rejects(late, { code: 'content_mismatch' })
  })
})

describe('while parts are put together', () => {
  it('giving up wins, and a part that is replaced changes nothing', async (t) => {
    const { tenant } = await admin()
    for (const meanwhile of ['abort', 'replace'] as const) {
      const { store, reading, goOn } = held(createFolderStore(await temporaryFolder(t)))
      const client = workClients(db, testContent({ store })).clientOf(tenant.key)
      const bytes = someBytes(1000)
      const { id } = await beginUpload(client, bytes)
      await putPart(client, { id, number: 1 }, bytes)
      const completing = completeUpload(client, id)
      completing.catch(() => {})
      await reading
      if (meanwhile === 'abort') await call(client, uploads.abortArtifactUpload, { params: { id } })
      else await putPart(client, { id, number: 1 }, someBytes(1000))
      goOn()
      if (meanwhile === 'abort') await assert.rejects(completing, { code: 'upload_not_open' })
      else assert.equal((await completing).status, 'completed')
    }
  })
})

describe('the same bytes', () => {
  it('are written every time and kept apart between tenants, so that nothing tells who has them', async (t) => {
    const folder = createFolderStore(await temporaryFolder(t))
    const keys: string[] = []
    const put: BlobStore['put'] = async (key, source, signal) => {
      await folder.put(key, source, signal)
      keys.push(key)
    }
    const content = testContent({ store: { ...folder, put } })
    const { admin: newAdmin } = workClients(db, content)
    const [ours, theirs] = [await newAdmin(), await newAdmin()]
    const bytes = someBytes(1000)
    const answers = []
    for (const { client } of [ours, ours, theirs]) answers.push(await sendBytes(client, bytes))
    assert.equal(new Set(keys).size, 3)
    const tenants = keys.map((key) => key.split('/')[0])
    const [we, they] = [ours.tenant.ctx.tenantId, theirs.tenant.ctx.tenantId]
    assert.deepEqual(tenants, [we, we, they])
    const varies = { id: '', contentRef: '', expiresAt: '', createdAt: '' }
    const shapes = answers.map((answer) => ({ ...answer, ...varies }))
    assert.deepEqual(shapes, Array(3).fill(shapes[0]))
    const body = { type: 'log', name: 'l', contentRef: answers[0]?.contentRef ?? '' }
    const stolen = call(theirs.client, artifacts.createArtifact, { body })
    await assert.rejects(stolen, { code: 'not_found' })
  })
})

describe('content in a bucket', () => {
  it('is uploaded, put together and read in parts as anywhere, also after the service failed', async (t) => {
    const { tenant } = await admin()
    const { bucket, objects, fail } = await startS3(t)
    const content = testContent({ store: createS3Store(bucket) })
    const client = workClients(db, content).clientOf(tenant.key)
    const bytes = someBytes(1_300_000)
    const { id } = await beginUpload(client, bytes)
    await putPart(client, { id, number: 1 }, bytes.slice(0, 700_000))
    await putPart(client, { id, number: 2 }, bytes.slice(700_000))
    fail(503, 3)
    await assert.rejects(completeUpload(client, id), { code: 'content_unavailable' })
    fail(503, 0)
    await completeUpload(client, id)
    const artifact = await call(client, artifacts.createArtifact, {
      body: { type: 'log', name: 'l', contentRef: id },
    })
    const response = await send(client, artifacts.getArtifactContent, {
      params: { id: artifact.id },
      headers: { range: 'bytes=1000000-1200000' },
    })
    assert.equal(response.status, 206)
    assert.deepEqual(
      new Uint8Array(await response.arrayBuffer()),
      bytes.slice(1_000_000, 1_200_001),
    )
    const prefix = `strata/${tenant.ctx.tenantId}/`
    assert.ok([...objects.keys()].every((key) => key.startsWith(prefix)))
  })
})
