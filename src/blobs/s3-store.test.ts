import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { sha256 } from '#lib/id.ts'
import { startS3 } from '../../test/support/s3-server.ts'
import { announced, chunksOf, someBytes } from '../../test/support/upload.ts'
import { newObjectKey } from './object-key.ts'
import { putVerified } from './put-verified.ts'
import { createS3Store } from './s3-store.ts'

const bytes = someBytes(200_000)
const key = newObjectKey(randomUUID(), sha256(bytes))
const source = () => ({ ...announced(bytes), chunks: chunksOf(bytes) })

/** Why a store says that it cannot do what it should. */
async function causeOf(work: Promise<unknown>): Promise<string> {
  const { code, cause } = await work.then(
    () => assert.fail('It worked'),
    (error: { code: string; cause: Error }) => error,
  )
  assert.equal(code, 'content_unavailable')
  return cause.message
}

describe('a store in a bucket', () => {
  it('signs what it sends with its digest, and keeps it under its prefix', async (t) => {
    const { bucket, objects } = await startS3(t)
    await putVerified(createS3Store(bucket), key, source())
    assert.deepEqual([...objects.keys()], [`strata/${key}`])
    assert.deepEqual(new Uint8Array(objects.get(`strata/${key}`) ?? []), bytes)
  })

  it('is not believed with a wrong secret, another region or another bucket', async (t) => {
    const { bucket, objects } = await startS3(t)
    for (const [change, code] of [
      [{ secretAccessKey: 'guessed' }, 'SignatureDoesNotMatch'],
      [{ accessKeyId: 'SOMEBODY' }, 'InvalidAccessKeyId'],
      [{ region: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
      [{ bucket: 'another' }, 'NoSuchBucket'],
    ] as const) {
      const store = createS3Store({ ...bucket, ...change })
      assert.match(await causeOf(store.check()), new RegExp(code))
      assert.match(await causeOf(putVerified(store, key, source())), new RegExp(code))
      const read = async () => {
        for await (const _ of store.get(key, { start: 0, end: 1 }));
      }
      assert.match(await causeOf(read()), new RegExp(code))
      assert.match(await causeOf(store.remove(key)), new RegExp(code))
    }
    assert.equal(objects.size, 0)
  })

  it('asks again for what may be asked twice, and lets the caller send again', async (t) => {
    const { bucket, objects, asked, fail } = await startS3(t)
    const store = createS3Store(bucket)
    fail(503, 1)
    assert.match(await causeOf(putVerified(store, key, source())), /503/)
    assert.equal(asked.length, 1)
    await putVerified(store, key, source())

    fail(500, 2)
    let size = 0
    for await (const chunk of store.get(key, { start: 0, end: 200_000 })) size += chunk.length
    assert.equal(size, 200_000)
    fail(429, 2)
    await store.remove(key)
    assert.equal(objects.size, 0)
    fail(503, 3)
    assert.match(await causeOf(store.remove(key)), /503/)
  })

  it('says so when nobody answers', async () => {
    const bucket = {
      endpoint: 'http://127.0.0.1:9',
      bucket: 'b',
      region: 'r',
      accessKeyId: 'a',
      secretAccessKey: 's',
      sessionToken: undefined,
      prefix: '',
      isPathStyle: true,
    }
    assert.match(await causeOf(createS3Store(bucket).check()), /fetch failed/)
  })
})
