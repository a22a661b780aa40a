import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect } from '#db/sql.ts'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { decision, testMemory } from '../../test/support/memory.ts'

const db = await sharedMemoryDb()
const MEBIBYTE = 1_048_576

async function raw(body: string, headers: Record<string, string> = {}) {
  const { fetch } = testMemory(db, { maxKnowledgeBytes: MEBIBYTE })
  const response = await fetch('http://memory/api/memory/observations', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const answer = (await response.json()) as Refusal
  return { status: response.status, headers: response.headers, body: answer }
}

interface Refusal {
  detail: string
  code: string
  request_id: string
}

describe('the wire of the memory service', () => {
  it('tells who asked for what, in the headers of every answer', async () => {
    const { headers } = await raw('{}', { 'x-run-id': 'run-7', 'x-request-id': 'req-9' })
    assert.equal(headers.get('x-run-id'), 'run-7')
    assert.equal(headers.get('x-request-id'), 'req-9')
  })

  for (const [what, body, status] of [
    ['no JSON', '{', 400],
    ['a list', '[]', 400],
    ['a NUL in a text', '{"kind": "note", "content": "a\\u0000b"}', 400],
    ['a NUL in a key of its own data', '{"kind": "note", "data": {"a\\u0000": 1}}', 400],
    ['half a character', '{"kind": "note", "content": "\\ud800"}', 400],
    ['a number that loses digits', '{"kind": "note", "data": {"n": 12345678901234567890}}', 400],
    ['a number without end', '{"kind": "note", "data": {"n": 1e999}}', 400],
    ['nesting without end', `{"data": ${'['.repeat(100)}${']'.repeat(100)}}`, 400],
    ['a body beyond the limit', JSON.stringify({ content: 'x'.repeat(MEBIBYTE) }), 413],
  ] as const) {
    it(`answers ${what} with detail, code and request id`, async () => {
      const answer = await raw(body)
      assert.equal(answer.status, status)
      assert.equal(typeof answer.body.detail, 'string')
      assert.match(answer.body.code, /^(?:invalid_request|request_too_large)$/)
      assert.equal(answer.body.request_id, answer.headers.get('x-request-id'))
    })
  }

  it('knows no other routes, methods and parameters', async () => {
    const { get, post } = testMemory(db)
    assert.equal((await get('/api/memory/nothing')).status, 404)
    assert.equal((await get('/api/memory/observations')).status, 404)
    assert.equal((await get('/api/memory/streams?namespcae=a')).status, 400)
    assert.equal((await get('/api/memory/streams?namespace=Bad Name')).status, 400)
    const bad = await post('/api/memory/observations', {
      ...decision(),
      scope: { namespace: 'Bad Name' },
    })
    assert.deepEqual([bad.status, bad.body.errors[0].loc], [400, 'body.scope.namespace'])
  })

  it('counts what it holds', async () => {
    const { get, post, namespace } = testMemory(db)
    const before = (await get('/healthz')).body
    await post('/api/brain/documents', { natural_key: 'a', content: 'text', namespace })
    const { status, body } = await get('/healthz')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['ok', 'graph', 'nodes', 'chunks'])
    assert.ok(body.ok && body.nodes > before.nodes && body.chunks > before.chunks)
  })

  it('answers 503 while its database does not, and says nothing of it', async (t) => {
    const address = { url: 'postgres://nobody:secret@127.0.0.1:1/none' }
    const away = connect(address, { maxConnections: 1, appName: 'test' })
    t.after(() => away.end({ timeout: 1 }))
    const { get, post } = testMemory(away)
    for (const { status, body } of [
      await get('/healthz'),
      await post('/api/memory/observations', decision()),
    ]) {
      assert.deepEqual([status, body.code], [503, 'not_ready'])
      assert.doesNotMatch(JSON.stringify(body), /127\.0|nobody|secret|ECONN/)
    }
  })
})
