import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { abortUpload } from '#artifacts/abort-upload.ts'
import { beginUpload } from '#artifacts/begin-upload.ts'
import { completeUpload } from '#artifacts/complete-upload.ts'
import { putPart } from '#artifacts/put-part.ts'
import { sendContent } from '#artifacts/send-content.ts'
import { transaction } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { sha256 } from '#lib/id.ts'
import { keeping } from '../../test/support/keeping.ts'
import type { Keeping } from '../../test/support/keeping.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { announced, chunksOf, someBytes } from '../../test/support/upload.ts'
import { deleteBlob, keepInline, lockCandidate, selectBlob } from './blob.sql.ts'
import { updateDueRemoving } from './loose-object.sql.ts'
import { putVerified } from './put-verified.ts'
import { announceObject } from './write-blob.ts'

const HOUR = 3600
const ALL = { uploads: 2 * HOUR, blobs: 2 * HOUR, objects: 3 * HOUR }

async function inParts({ db, ctx, transfer }: Keeping, bytes: Uint8Array): Promise<string> {
  const { id } = await transaction(db, 'read write', (sql) =>
    beginUpload(sql, ctx, announced(bytes), transfer.limits),
  )
  const middle = Math.floor(bytes.length / 2)
  for (const [index, part] of [bytes.slice(0, middle), bytes.slice(middle)].entries()) {
    const place = { uploadId: id, number: index + 1 }
    await putPart(transfer, ctx, { ...place, ...announced(part) }, chunksOf(part))
  }
  return id
}

/** Runs a transaction up to a point, and on to its end when the test says so. */
async function paused(k: Keeping, work: (sql: Sql) => Promise<void>) {
  const reached = Promise.withResolvers<Sql>()
  const goOn = Promise.withResolvers<void>()
  const done = transaction(k.db, 'read write', async (sql) => {
    await work(sql)
    reached.resolve(sql)
    await goOn.promise
  })
  done.catch(reached.reject)
  return { sql: await reached.promise, end: () => (goOn.resolve(), done) }
}

describe('the collector', () => {
  it('leaves what an artifact names, whatever time passes', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const { id } = await k.publish({ contentRef: (await k.send(bytes)).id })
    for (let round = 0; round < 3; round += 1) {
      await k.letTimePass(ALL)
      await k.collect()
    }
    assert.deepEqual(await k.read(id), bytes)
    assert.equal(await k.files(), 1)
  })

  it('removes what nobody named, after the upload has expired and a while more', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const { id } = await k.send(bytes)
    await k.letTimePass({ uploads: HOUR / 2, blobs: ALL.blobs, objects: ALL.objects })
    await k.collect()
    assert.equal(await k.files(), 1)
    await k.letTimePass({ uploads: HOUR + 60 })
    await k.collect()
    await k.letTimePass({ blobs: HOUR / 2, objects: HOUR / 2 })
    await k.collect()
    assert.ok(await selectBlob(k.db, k.ctx, sha256(bytes)))
    await k.letTimePass({ blobs: HOUR + 60 })
    await k.collect()
    assert.equal(await selectBlob(k.db, k.ctx, sha256(bytes)), undefined)
    assert.equal(await k.files(), 1)
    await k.letTimePass({ objects: HOUR + 60 })
    await k.collect()
    assert.equal(await k.files(), 0)
    await assert.rejects(k.publish({ contentRef: id }), { code: 'not_found' })
    const [left] = await k.db`select 1 from loose_objects where tenant_id = ${k.ctx.tenantId}`
    assert.equal(left, undefined)
  })

  it('removes parts once they are of no use: put together, given up, replaced or expired', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const completed = await inParts(k, bytes)
    await completeUpload(k.transfer, k.ctx, { id: completed })
    const aborted = await inParts(k, someBytes(1000))
    await transaction(k.db, 'read write', (sql) => abortUpload(sql, k.ctx, aborted))
    const open = await inParts(k, bytes)
    const part = bytes.slice(0, 500)
    const again = { uploadId: open, number: 1, ...announced(part) }
    await putPart(k.transfer, k.ctx, again, chunksOf(part))
    assert.equal(await k.files(), 1 + 2 + 2 + 3)

    await k.letTimePass({ objects: ALL.objects })
    await k.collect()
    assert.equal(await k.files(), 1 + 2)
    await completeUpload(k.transfer, k.ctx, { id: open })
    const { id } = await k.publish({ contentRef: open })
    await k.letTimePass(ALL)
    await k.collect()
    await k.letTimePass(ALL)
    await k.collect()
    assert.equal(await k.files(), 1)
    assert.deepEqual(await k.read(id), bytes)
  })

  it('removes what a process left that died between any two steps', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const announce = () =>
      transaction(k.db, 'read write', (sql) => announceObject(sql, k.ctx, sha256(bytes)))
    await announce()
    const key = await announce()
    await putVerified(k.store, key, { ...announced(bytes), chunks: chunksOf(bytes) })
    // A collector that died after it had marked, and one after it had removed.
    await k.letTimePass({ objects: HOUR })
    assert.equal(await k.collect(), 0)
    assert.equal(await k.files(), 1)
    await k.letTimePass(ALL)
    await updateDueRemoving(k.db, { limit: 1, leaseSeconds: 600 })
    await k.store.remove(key)
    await k.letTimePass(ALL)
    assert.equal(await k.collect(), 2)
    assert.equal(await k.files(), 0)
    assert.equal(await k.collect(), 0)
  })

  it('does not lose content that is named while it decides: the naming waits, and names it anew', async (t) => {
    const k = await keeping(t)
    const bytes = Buffer.from('the same small text')
    const inline = { sha256: sha256(bytes), bytes }
    await k.send(bytes)
    await k.letTimePass({ uploads: ALL.uploads })
    await k.collect()
    await k.letTimePass({ blobs: ALL.blobs })
    const collector = await paused(k, async (sql) => {
      const candidate = { tenantId: k.ctx.tenantId, sha256: inline.sha256 }
      assert.ok(await lockCandidate(sql, candidate))
      await deleteBlob(sql, candidate)
    })
    const naming = k.publish({ content: bytes.toString() })
    await waitForWaiters(k.db, collector.sql, 1)
    await collector.end()
    const { id } = await naming
    await k.letTimePass(ALL)
    await k.collect()
    assert.deepEqual(Buffer.from(await k.read(id)), bytes)
  })

  it('does not lose content that was named before it decides, though that is not committed yet', async (t) => {
    const k = await keeping(t)
    const bytes = Buffer.from('the same small text')
    await k.send(bytes)
    await k.letTimePass({ uploads: ALL.uploads })
    await k.collect()
    await k.letTimePass({ blobs: ALL.blobs })
    const inline = { sha256: sha256(bytes), bytes }
    const naming = await paused(k, async (sql) => {
      await keepInline(sql, k.ctx, inline)
    })
    await k.collect()
    assert.ok(await selectBlob(k.db, k.ctx, inline.sha256))
    await naming.end()
    const { id } = await k.publish({ content: bytes.toString() })
    await k.letTimePass(ALL)
    await k.collect()
    assert.deepEqual(Buffer.from(await k.read(id)), bytes)
  })

  it('does not remove what is being adopted; what it is removing is not adopted', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const slow = async function* () {
      // Time passes while the bytes are on their way, and a collector has begun.
      await k.letTimePass(ALL)
      await updateDueRemoving(k.db, { limit: 10, leaseSeconds: 600 })
      yield bytes
    }
    const late = sendContent(k.transfer, k.ctx, announced(bytes), slow())
    await assert.rejects(late, { code: 'content_unavailable' })
    assert.equal(await selectBlob(k.db, k.ctx, sha256(bytes)), undefined)
    await k.letTimePass(ALL)
    await k.collect()
    assert.equal(await k.files(), 0)
    const { id } = await k.publish({ contentRef: (await k.send(bytes)).id })
    assert.deepEqual(await k.read(id), bytes)
  })

  it('heals: content that was lost is there again once somebody sends it again', async (t) => {
    const k = await keeping(t)
    const bytes = someBytes(1000)
    const { id } = await k.publish({ contentRef: (await k.send(bytes)).id })
    const blob = await selectBlob(k.db, k.ctx, sha256(bytes))
    await k.store.remove(blob?.objectKey ?? '')
    await assert.rejects(k.read(id), { code: 'content_damaged' })
    await k.send(bytes)
    assert.deepEqual(await k.read(id), bytes)
    await k.letTimePass(ALL)
    await k.collect()
    assert.equal(await k.files(), 1)
  })

  it('loses nothing while many publish the same few contents and everything is always due', async (t) => {
    const k = await keeping(t)
    const contents = [someBytes(50), someBytes(60), Buffer.from('text'), Buffer.from('more text')]
    const over = new AbortController()
    const collecting = (async () => {
      for (let round = 0; !over.signal.aborted; round += 1) {
        // Objects that are being written have longer than this.
        const objects = HOUR + 60
        await k.letTimePass({ blobs: 2 * HOUR, objects, ...(round % 4 === 0 && { uploads: HOUR }) })
        await k.collect()
      }
    })()
    const publishing = Array.from({ length: 6 }, async (_, first) => {
      const ids: string[] = []
      for (let step = 0; step < 8; step += 1) {
        const bytes = contents[(first + step) % contents.length] ?? new Uint8Array()
        const isInline = (first * step) % 3 === 1
        const body = isInline
          ? { content: Buffer.from(bytes).toString('base64'), encoding: 'base64' as const }
          : { contentRef: (await k.send(bytes)).id }
        const made = await k.publish(body).catch((error: Error & { code?: string }) => {
          assert.equal(error.code, 'not_found', error.message)
          return undefined
        })
        if (made) ids.push(made.id)
      }
      return ids
    })
    const ids = await Promise.all(publishing).finally(() => over.abort())
    await collecting
    for (let round = 0; round < 3; round += 1) {
      await k.letTimePass(ALL)
      await k.collect()
    }
    assert.ok(ids.flat().length >= 10)
    for (const id of ids.flat()) {
      const bytes = await k.read(id)
      assert.ok(contents.some((content) => Buffer.from(content).equals(bytes)))
    }
    assert.ok((await k.files()) <= contents.length)
  })
})
