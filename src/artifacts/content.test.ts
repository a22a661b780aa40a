import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import { sha256 } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const { admin } = workClients(await sharedDb())
const BYTES = '0123456789'
const ETAG = `"sha256-${sha256(BYTES)}"`

/** Asks for the content of a new artifact of ten bytes. */
async function asker(content = BYTES) {
  const { client } = await admin()
  const { id } = await call(client, artifacts.createArtifact, {
    body: { type: 'log', name: 'l.txt', content },
  })
  const head: typeof fetch = async (input, init) =>
    await (client.fetch ?? fetch)(input, { ...init, method: 'HEAD' })
  return async (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const options = method === 'HEAD' ? { ...client, fetch: head } : client
    const response = await send(options, artifacts.getArtifactContent, { params: { id }, headers })
    const { status } = response
    const header = (name: string) => response.headers.get(name)
    return { status, text: await response.text(), header }
  }
}

describe('the content of an artifact', () => {
  it('comes whole, with its length and what it is', async () => {
    const { status, text, header } = await (await asker())()
    assert.deepEqual([status, text], [200, BYTES])
    assert.equal(header('content-length'), '10')
    assert.equal(header('accept-ranges'), 'bytes')
    assert.equal(header('etag'), ETAG)
  })

  it('comes in the part that is asked for', async () => {
    const ask = await asker()
    for (const [range, part, place] of [
      ['bytes=2-4', '234', '2-4'],
      ['bytes=7-', '789', '7-9'],
      ['bytes=-2', '89', '8-9'],
      ['bytes=0-100', BYTES, '0-9'],
    ] as const) {
      const { status, text, header } = await ask({ range })
      assert.deepEqual([status, text], [206, part])
      assert.equal(header('content-range'), `bytes ${place}/10`)
      assert.equal(header('content-length'), String(part.length))
      assert.match(header('content-disposition') ?? '', /^attachment;/)
      assert.equal(header('x-content-type-options'), 'nosniff')
    }
  })

  it('comes whole to who asks for parts in a way it does not know', async () => {
    const ask = await asker()
    for (const range of ['bytes=0-1,3-4', 'pages=1-2', 'bytes=x']) {
      const { status, text } = await ask({ range })
      assert.deepEqual([status, text], [200, BYTES])
    }
  })

  it('has no part beyond its end', async () => {
    const { status, text, header } = await (await asker())({ range: 'bytes=10-' })
    assert.equal(status, 416)
    assert.equal(header('content-range'), 'bytes */10')
    assert.match(text, /"code":"range_not_satisfiable"/)
    const empty = await (await asker(''))({ range: 'bytes=0-' })
    assert.deepEqual([empty.status, empty.header('content-range')], [416, 'bytes */0'])
  })

  it('is not sent to who has it, nor a part to who has other bytes', async () => {
    const ask = await asker()
    for (const tags of [ETAG, `"x", W/${ETAG}`, '*']) {
      const { status, text, header } = await ask({ 'if-none-match': tags })
      assert.deepEqual([status, text, header('etag')], [304, '', ETAG])
    }
    const changed = await ask({ 'if-none-match': '"x"', range: 'bytes=1-2' })
    assert.deepEqual([changed.status, changed.text], [206, '12'])
    const mine = await ask({ 'if-range': ETAG, range: 'bytes=1-2' })
    assert.deepEqual([mine.status, mine.text], [206, '12'])
    const other = await ask({ 'if-range': '"sha256-0"', range: 'bytes=1-2' })
    assert.deepEqual([other.status, other.text], [200, BYTES])
  })

  it('is described to who asks for the head alone', async () => {
    const { status, text, header } = await (await asker())({ range: 'bytes=1-2' }, 'HEAD')
    assert.deepEqual([status, text], [200, ''])
    assert.deepEqual([header('content-length'), header('etag')], ['10', ETAG])
  })
})
