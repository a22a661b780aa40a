import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import { claimTask, releaseClaim } from '#contract/claims.ts'
import { createTask } from '#contract/tasks.ts'
import { sha256 } from '#lib/id.ts'
import { TEST_MAX_CONTENT_BYTES, testContent } from '../../test/support/content.ts'
import { sharedDb } from '../../test/support/db.ts'
import {
  announced,
  announcedText,
  beginUpload,
  completeUpload,
  putPart,
  sendBytes,
  someBytes,
  streamOf,
} from '../../test/support/upload.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
let counted = { stored: 0, served: 0 }
const meter = {
  stored: (bytes: number) => (counted.stored += bytes),
  served: (bytes: number) => (counted.served += bytes),
}
const { admin, clientOf } = workClients(db, testContent({ meter }))

const publish = (client: ClientOptions, more: object) =>
  call(client, artifacts.createArtifact, { body: { type: 'log', name: 'l', ...more } })

async function contentOf(client: ClientOptions, id: string, range?: string) {
  const headers = range === undefined ? {} : { range }
  const response = await send(client, artifacts.getArtifactContent, { params: { id }, headers })
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

describe('content of one request', () => {
  it('is what an artifact names, and comes back as it was, in whole and in part', async () => {
    const { client } = await admin()
    const bytes = someBytes(3_000_000)
    counted = { stored: 0, served: 0 }
    const upload = await sendBytes(client, bytes, { mediaType: 'application/zip' })
    assert.equal(upload.status, 'completed')
    assert.equal(counted.stored, bytes.length)
    const artifact = await publish(client, { contentRef: upload.contentRef })
    const mediaType = 'application/zip'
    assert.deepEqual(artifact.content, { ...announced(bytes), mediaType })

    const whole = await contentOf(client, artifact.id)
    assert.deepEqual(whole.bytes, bytes)
    assert.equal(whole.response.headers.get('content-length'), '3000000')
    assert.equal(whole.response.headers.get('etag'), `"sha256-${sha256(bytes)}"`)
    for (const [start, end] of [
      [0, 1],
      [1_048_575, 1_048_577],
      [5, 2_999_999],
      [2_999_999, 3_000_000],
    ] as const) {
      const part = await contentOf(client, artifact.id, `bytes=${start}-${end - 1}`)
      assert.equal(part.response.status, 206)
      assert.deepEqual(part.bytes, bytes.slice(start, end))
    }
    assert.ok(counted.served > bytes.length)
  })

  it('may be nothing, and may be published twice', async () => {
    const { client } = await admin()
    const { contentRef } = await sendBytes(client, new Uint8Array())
    for (let count = 0; count < 2; count += 1) {
      const { id, content } = await publish(client, { contentRef, mediaType: 'text/csv' })
      assert.deepEqual([content?.sizeBytes, content?.mediaType], [0, 'text/csv'])
      assert.deepEqual((await contentOf(client, id)).bytes, new Uint8Array())
    }
  })

  it('is refused when it is not what was announced, or cut', async () => {
    const { client } = await admin()
    const bytes = someBytes(200_000)
    const wrong = [
      [bytes.slice(1), {}, 'content_mismatch'],
      [new Uint8Array([...bytes, 0]), {}, 'content_mismatch'],
      [someBytes(200_000), {}, 'content_mismatch'],
      [new Uint8Array(), {}, 'content_mismatch'],
      [bytes, { sizeBytes: String(TEST_MAX_CONTENT_BYTES + 1) }, 'request_too_large'],
      [bytes, { sizeBytes: '-1' }, 'invalid_request'],
      [bytes, { sha256: sha256(bytes).toUpperCase() }, 'invalid_request'],
      [bytes, { mediaType: 'text' }, 'invalid_request'],
      [bytes, { fencingToken: '1' }, 'invalid_request'],
      [bytes, { claimId: randomUUID() }, 'invalid_request'],
    ] as const
    for (const [sent, change, code] of wrong) {
      const query = { ...announcedText(bytes), ...change }
      const refused = call(client, uploads.sendArtifactContent, { query, bytes: streamOf(sent) })
      await assert.rejects(refused, { code })
    }
    const cut = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, 1000))
      },
      pull(controller) {
        controller.error(new Error('The caller is gone'))
      },
    })
    const query = announcedText(bytes)
    const refused = call(client, uploads.sendArtifactContent, { query, bytes: cut })
    await assert.rejects(refused, { code: 'invalid_request' })
    await assert.rejects(call(client, uploads.sendArtifactContent, { query }), {
      code: 'content_mismatch',
    })
  })

  it('is uploaded once under one Idempotency-Key', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    const idempotencyKey = randomUUID()
    const input = { idempotencyKey, query: announcedText(bytes) }
    const [first, second] = [
      await call(client, uploads.sendArtifactContent, { ...input, bytes }),
      await call(client, uploads.sendArtifactContent, { ...input, bytes }),
    ]
    assert.deepEqual(second, first)
    const other = { ...input, query: announcedText(someBytes(9)), bytes }
    await assert.rejects(call(client, uploads.sendArtifactContent, other), {
      code: 'idempotency_key_reused',
    })
  })
})

describe('an upload in parts', () => {
  it('takes parts in any order and again, says which are there, and is one content at the end', async () => {
    const { client } = await admin()
    const bytes = someBytes(2_500_000)
    const cut = [
      bytes.slice(0, 1_000_000),
      bytes.slice(1_000_000, 1_200_000),
      bytes.slice(1_200_000),
    ]
    const [one, two, three] = cut as [Uint8Array, Uint8Array, Uint8Array]
    const { id, status, contentRef } = await beginUpload(client, bytes)
    assert.deepEqual([status, contentRef], ['open', null])
    await putPart(client, { id, number: 3 }, three)
    await putPart(client, { id, number: 1 }, someBytes(7))
    await putPart(client, { id, number: 1 }, one)

    const seen = await call(client, uploads.getArtifactUpload, { params: { id } })
    const parts = [
      { number: 1, ...announced(one) },
      { number: 3, ...announced(three) },
    ]
    assert.deepEqual(seen.parts, parts)
    await assert.rejects(completeUpload(client, id), {
      code: 'upload_incomplete',
      details: { status: 409, sizeBytes: 2_500_000, receivedBytes: 2_300_000, missingPart: 2 },
    })
    await assert.rejects(publish(client, { contentRef: id }), { code: 'upload_incomplete' })
    await putPart(client, { id, number: 2 }, two)
    const completed = await completeUpload(client, id)
    assert.deepEqual([completed.status, completed.contentRef], ['completed', id])
    assert.deepEqual(await completeUpload(client, id), completed)
    const artifact = await publish(client, { contentRef: id })
    assert.deepEqual((await contentOf(client, artifact.id)).bytes, bytes)
    await assert.rejects(putPart(client, { id, number: 1 }, one), { code: 'upload_not_open' })
    await assert.rejects(call(client, uploads.abortArtifactUpload, { params: { id } }), {
      code: 'upload_not_open',
    })
  })

  it('completes once however many ask for it at once, in any process', async () => {
    const { tenant, client } = await admin()
    const folder = testContent()
    const here = workClients(db, folder).clientOf(tenant.key)
    const there = workClients(db, folder).clientOf(tenant.key)
    const bytes = someBytes(1_200_000)
    const { id } = await beginUpload(here, bytes)
    await Promise.all([
      putPart(here, { id, number: 1 }, bytes.slice(0, 600_000)),
      putPart(there, { id, number: 2 }, bytes.slice(600_000)),
    ])
    const answers = await Promise.all(
      [here, there, here, there].map((at) => completeUpload(at, id)),
    )
    for (const answer of answers) assert.deepEqual(answer, answers[0])
    const artifact = await publish(client, { contentRef: id })
    assert.deepEqual((await contentOf(there, artifact.id)).bytes, bytes)
  })

  it('is refused whatever does not fit it', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    await assert.rejects(
      call(client, uploads.beginArtifactUpload, {
        body: { ...announced(bytes), sizeBytes: TEST_MAX_CONTENT_BYTES + 1 },
      }),
      { code: 'request_too_large' },
    )
    const { id } = await beginUpload(client, bytes)
    await putPart(client, { id, number: 1 }, bytes.slice(0, 600))
    await assert.rejects(putPart(client, { id, number: 2 }, bytes.slice(0, 401)), {
      code: 'content_mismatch',
    })
    for (const number of [0, 1001, -1, 1.5]) {
      await assert.rejects(putPart(client, { id, number }, bytes.slice(600)), {
        code: 'invalid_request',
      })
    }
    await putPart(client, { id, number: 2 }, someBytes(400))
    await assert.rejects(completeUpload(client, id), { code: 'content_mismatch' })
    await putPart(client, { id, number: 2 }, bytes.slice(600))
    assert.equal((await completeUpload(client, id)).status, 'completed')
  })

  it('can be given up, once and for all', async () => {
    const { client } = await admin()
    const bytes = someBytes(100)
    const { id } = await beginUpload(client, bytes)
    await putPart(client, { id, number: 1 }, bytes)
    const params = { id }
    const aborted = await call(client, uploads.abortArtifactUpload, { params })
    assert.equal(aborted.status, 'aborted')
    assert.deepEqual(await call(client, uploads.abortArtifactUpload, { params }), aborted)
    await assert.rejects(putPart(client, { id, number: 1 }, bytes), { code: 'upload_not_open' })
    await assert.rejects(completeUpload(client, id), { code: 'upload_not_open' })
    await assert.rejects(publish(client, { contentRef: id }), { code: 'upload_incomplete' })
  })

  it('is nothing to anybody else, also not to who knows its digest, nor when its time is up', async () => {
    const { tenant, client } = await admin()
    const { key } = await tenant.caller(['artifacts.write', 'artifacts.read'])
    const other = clientOf(key)
    const bytes = someBytes(100)
    const { id } = await beginUpload(client, bytes)
    await putPart(client, { id, number: 1 }, bytes)
    const missing = { code: 'not_found' }
    const params = { id }
    await assert.rejects(call(other, uploads.getArtifactUpload, { params }), missing)
    await assert.rejects(putPart(other, { id, number: 1 }, bytes), missing)
    await assert.rejects(completeUpload(other, id), missing)
    await assert.rejects(call(other, uploads.abortArtifactUpload, { params }), missing)
    await completeUpload(client, id)
    await assert.rejects(publish(other, { contentRef: id }), missing)
    await assert.rejects(publish(other, { contentRef: sha256(bytes) }), { code: 'invalid_request' })

    await db`
      update artifact_uploads
      set expires_at = clock_timestamp()
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${id}`
    await assert.rejects(call(client, uploads.getArtifactUpload, { params }), missing)
    await assert.rejects(publish(client, { contentRef: id }), missing)
  })
})

describe('an upload for a task', () => {
  it('is refused at its end to who lost the task meanwhile, and goes on under a new claim', async () => {
    const { client } = await admin()
    const { task, fence, session } = await claimedTask(client)
    const bytes = someBytes(100)
    const more = { taskId: task.id, ...fence }
    await assert.rejects(beginUpload(client, bytes, { taskId: task.id }), { code: 'task_claimed' })
    await assert.rejects(sendBytes(client, bytes, { taskId: task.id }), { code: 'task_claimed' })
    const { id, taskId } = await beginUpload(client, bytes, more)
    assert.equal(taskId, task.id)
    await putPart(client, { id, number: 1 }, bytes)
    await assert.rejects(completeUpload(client, id), { code: 'task_claimed' })
    const { claimId, fencingToken } = fence
    await call(client, releaseClaim, { params: { id: claimId }, body: { fencingToken } })
    await assert.rejects(completeUpload(client, id, fence), { code: 'stale_claim' })
    const claim = await call(client, claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    const again = { claimId: claim.id, fencingToken: claim.fencingToken }
    await completeUpload(client, id, again)
    const artifact = await publish(client, { taskId: task.id, contentRef: id, ...again })
    assert.equal(artifact.content?.sha256, sha256(bytes))
  })

  it('is content of that task alone', async () => {
    const { client } = await admin()
    const add = async () => (await call(client, createTask, { body: { title: 't' } })).id
    const [taskId, other] = [await add(), await add()]
    const { contentRef } = await sendBytes(client, someBytes(10), { taskId })
    for (const place of [{}, { taskId: other }]) {
      await assert.rejects(publish(client, { contentRef, ...place }), { code: 'invalid_request' })
    }
    assert.equal((await publish(client, { contentRef, taskId })).taskId, taskId)
  })
})
