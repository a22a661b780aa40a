import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as artifacts from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import type { Artifact } from '#contract/artifacts.ts'
import { sha256 } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { sendBytes, someBytes } from '../../test/support/upload.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'
import { call } from './client.ts'
import type { ClientOptions } from './client.ts'
import { readContent } from './read-content.ts'
import { PART_BYTES, uploadContent } from './upload-content.ts'
import type { ContentSource } from './upload-content.ts'

const { admin } = workClients(await sharedDb())

function sourceOf(bytes: Uint8Array<ArrayBuffer>): ContentSource {
  return {
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    read: (start, end) => Promise.resolve(bytes.slice(start, end)),
  }
}

type Disturb = (
  request: { method: string; path: string },
  send: () => Promise<Response>,
) => Promise<Response>

/** The same client on a network that `disturb` may cut, before a request or after. */
function disturbed(client: ClientOptions, disturb: Disturb): ClientOptions {
  const send = client.fetch ?? fetch
  return {
    ...client,
    fetch: async (input, init) => {
      assert.ok(input instanceof URL)
      const request = { method: init?.method ?? 'GET', path: input.pathname }
      return await disturb(request, () => send(input, init))
    },
  }
}

function cut(): never {
  throw new TypeError('fetch failed')
}

async function publish(client: ClientOptions, contentRef: string | null) {
  const body = { type: 'log', name: 'l', ...(contentRef !== null && { contentRef }) }
  const artifact = await call(client, artifacts.createArtifact, { body })
  assert.ok(artifact.content)
  return { ...artifact, content: artifact.content }
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return new Uint8Array(Buffer.concat(all))
}

describe('uploadContent', () => {
  it('sends small content in one request, again when the answer is lost', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    let left = 1
    const asked: string[] = []
    const shaky = disturbed(client, async ({ method, path }, send) => {
      asked.push(`${method} ${path}`)
      const answer = await send()
      left -= 1
      return left < 0 ? answer : cut()
    })
    const upload = await uploadContent(shaky, sourceOf(bytes), { mediaType: 'text/csv' })
    assert.deepEqual(asked, Array<string>(2).fill('POST /api/v1/artifact-uploads:send'))
    assert.equal(upload.mediaType, 'text/csv')
    const artifact = await publish(client, upload.contentRef)
    assert.deepEqual(await bytesOf(readContent(client, artifact)), bytes)
  })

  it('sends large content in parts, and later only those that are not there', async () => {
    const { client } = await admin()
    const bytes = someBytes(2 * PART_BYTES + 1000)
    let isDown = false
    const parts: string[] = []
    const shaky = disturbed(client, async ({ method, path }, send) => {
      if (method === 'PUT') parts.push(path.split('/').at(-1) ?? '')
      if (!path.endsWith(':complete') || !isDown) return await send()
      return Response.json({ error: { code: 'internal_error', message: 'no' } }, { status: 500 })
    })
    let uploadId = ''
    const seen: number[] = []
    isDown = true
    const failed = uploadContent(shaky, sourceOf(bytes), {
      began: (id) => (uploadId = id),
      progress: (done) => seen.push(done),
    })
    await assert.rejects(failed, { code: 'internal_error' })
    assert.deepEqual(parts.toSorted(), ['1', '2', '3'])
    assert.equal(seen.at(-1), bytes.length)

    isDown = false
    parts.length = 0
    const changed = { params: { id: uploadId, number: '3' } }
    const other = someBytes(1000)
    const query = { sizeBytes: '1000', sha256: sha256(other) }
    await call(client, uploads.putUploadPart, { ...changed, query, bytes: other })
    const upload = await uploadContent(shaky, sourceOf(bytes), { uploadId })
    assert.deepEqual(parts, ['3'])
    const artifact = await publish(client, upload.contentRef)
    assert.equal(artifact.content.sha256, sha256(bytes))
  })

  it('shows the claim that it is made under from beginning to end', async () => {
    const { client } = await admin()
    const { task, fence } = await claimedTask(client)
    const place = { taskId: task.id, ...fence }
    const small = await uploadContent(client, sourceOf(someBytes(10)), { place })
    assert.equal(small.taskId, task.id)
    const large = await uploadContent(client, sourceOf(someBytes(PART_BYTES + 1)), { place })
    assert.equal(large.taskId, task.id)
  })
})

/** An answer whose body breaks after so many bytes. */
function broken(answer: Response, bytes: number): Response {
  const body = async function* () {
    let left = bytes
    for await (const chunk of answer.body ?? []) {
      if (left <= 0) break
      yield chunk.slice(0, left)
      left -= chunk.length
    }
    throw new TypeError('terminated')
  }
  return new Response(ReadableStream.from(body()), answer)
}

describe('readContent', () => {
  it('goes on where the connection broke, however often it breaks on the way', async () => {
    const { client } = await admin()
    const bytes = someBytes(3_000_000)
    const artifact = await publish(client, (await sendBytes(client, bytes)).contentRef)
    const statuses: number[] = []
    const shaky = disturbed(client, async (_request, send) => {
      const answer = await send()
      statuses.push(answer.status)
      return statuses.length < 3 ? broken(answer, 1_200_000) : answer
    })
    assert.deepEqual(await bytesOf(readContent(shaky, artifact)), bytes)
    assert.deepEqual(statuses, [200, 206, 206])
  })

  it('takes no other bytes than those of the artifact', async () => {
    const { client } = await admin()
    const bytes = someBytes(1000)
    const artifact = await publish(client, (await sendBytes(client, bytes)).contentRef)
    for (const body of [someBytes(1000), someBytes(1001)]) {
      const lying = disturbed(client, async (_request, send) => new Response(body, await send()))
      await assert.rejects(bytesOf(readContent(lying, artifact)), { name: 'TransportError' })
    }
    const missing: Artifact = { ...artifact, id: crypto.randomUUID() }
    const none = readContent(client, { ...missing, content: artifact.content })
    await assert.rejects(bytesOf(none), { code: 'not_found' })
  })
})
