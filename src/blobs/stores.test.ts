import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { ByteRange } from '#lib/byte-range.ts'
import { sha256 } from '#lib/id.ts'
import { STORES } from '../../test/support/stores.ts'
import { announced, chunksOf, someBytes } from '../../test/support/upload.ts'
import { newObjectKey } from './object-key.ts'
import { putVerified } from './put-verified.ts'
import { readVerified } from './read-verified.ts'
import type { BlobStore } from './store.ts'

const TENANT = randomUUID()

async function read(store: BlobStore, key: string, range: ByteRange): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of store.get(key, range)) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

async function put(store: BlobStore, bytes: Uint8Array) {
  const key = newObjectKey(TENANT, sha256(bytes))
  const digests = await putVerified(store, key, { ...announced(bytes), chunks: chunksOf(bytes) })
  return { key, digests }
}

/** All bytes, but no end: what a caller that went away leaves. */
async function* cutShort(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
  throw new Error('The caller is gone')
}

for (const [name, open] of Object.entries(STORES)) {
  describe(`a store in ${name}`, () => {
    it('gives back what was put, by any process, in any part', async (t) => {
      const opener = await open(t)
      const bytes = someBytes(1_500_000)
      const { key } = await put(opener(), bytes)
      const store = opener()
      for (const [start, end] of [
        [0, 1_500_000],
        [0, 1],
        [1_400_000, 1_500_000],
        [1_000, 1_001],
      ] as const) {
        assert.deepEqual(await read(store, key, { start, end }), bytes.slice(start, end))
      }
      await store.check()
    })

    it('keeps nothing as well', async (t) => {
      const store = (await open(t))()
      const { key, digests } = await put(store, new Uint8Array())
      assert.equal(digests.length, 0)
      await store.remove(key)
    })

    it('has nothing where nothing was put or what was put is removed, however often', async (t) => {
      const store = (await open(t))()
      const bytes = someBytes(100)
      const { key } = await put(store, bytes)
      const other = newObjectKey(TENANT, sha256(bytes))
      assert.equal((await read(store, other, { start: 0, end: 100 })).length, 0)
      await store.remove(key)
      await store.remove(key)
      assert.equal((await read(store, key, { start: 0, end: 100 })).length, 0)
    })

    it('keeps nothing that is not what was announced or is cut', async (t) => {
      const store = (await open(t))()
      const bytes = someBytes(300_000)
      const right = announced(bytes)
      const wrong = [
        { ...right, sha256: sha256('other') },
        { ...right, sizeBytes: 300_001 },
        { ...right, sizeBytes: 299_999 },
        { ...right, sizeBytes: 0 },
      ]
      for (const source of wrong) {
        const key = newObjectKey(TENANT, source.sha256)
        const refused = putVerified(store, key, { ...source, chunks: chunksOf(bytes) })
        await assert.rejects(refused, { code: 'content_mismatch' })
        assert.equal((await read(store, key, { start: 0, end: 10 })).length, 0)
      }
      const key = newObjectKey(TENANT, right.sha256)
      const cut = { ...right, sizeBytes: 300_001, chunks: cutShort(bytes) }
      await assert.rejects(putVerified(store, key, cut), { message: 'The caller is gone' })
      assert.equal((await read(store, key, { start: 0, end: 10 })).length, 0)
    })

    it('gives up writing when it is told to', async (t) => {
      const store = (await open(t))()
      const bytes = someBytes(300_000)
      const key = newObjectKey(TENANT, sha256(bytes))
      const source = { ...announced(bytes), chunks: chunksOf(bytes) }
      const refused = putVerified(store, key, source, AbortSignal.abort())
      await assert.rejects(refused, { code: 'content_unavailable' })
      assert.equal((await read(store, key, { start: 0, end: 10 })).length, 0)
    })

    it('never gives out a block that is not what was put', async (t) => {
      const store = (await open(t))()
      const bytes = someBytes(2_500_000)
      const { key: objectKey, digests: blockDigests } = await put(store, bytes)
      const blob = { objectKey, sizeBytes: bytes.length, blockDigests }
      const range = { start: 1_048_577, end: 2_400_000 }
      const chunks: Uint8Array[] = []
      for await (const chunk of readVerified(store, blob, range)) chunks.push(chunk)
      assert.deepEqual(new Uint8Array(Buffer.concat(chunks)), bytes.slice(range.start, range.end))

      const spoiled = Buffer.from(blockDigests)
      spoiled[40] = (spoiled[40] ?? 0) ^ 1
      const given: number[] = []
      await assert.rejects(
        async () => {
          const whole = { start: 0, end: bytes.length }
          for await (const chunk of readVerified(
            store,
            { ...blob, blockDigests: spoiled },
            whole,
          )) {
            given.push(chunk.length)
          }
        },
        { code: 'content_damaged' },
      )
      assert.deepEqual(given, [1_048_576])
      for (const lost of [
        { ...blob, sizeBytes: bytes.length + 2_000_000 },
        { ...blob, objectKey: newObjectKey(TENANT, sha256(bytes)) },
      ]) {
        await assert.rejects(
          async () => {
            const end = lost.sizeBytes
            for await (const _ of readVerified(store, lost, { start: end - 1, end }));
          },
          { code: 'content_damaged' },
        )
      }
    })
  })
}
