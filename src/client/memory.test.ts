import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { z } from 'zod'
import { route } from '#contract/route.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { askMemory, describeAnswer, isRetryable } from './memory.ts'

const ask = route({
  method: 'POST',
  path: '/api/memory/context',
  summary: 'A question',
  tag: 'Test',
  access: 'authenticated',
  body: z.looseObject({}),
  reply: z.looseObject({}),
})

const deadline = (milliseconds: number) => ({ signal: AbortSignal.timeout(milliseconds) })

async function answered(t: TestContext, status: number, body: unknown) {
  const { url } = await fakeServer(t, (_, response) => reply(response, status, body))
  return await askMemory({ url, apiKey: 'k' }, ask, { body: {} }, deadline(5000))
}

describe('asking memory', () => {
  it('brings the credential, the run and the question, and gives the answer', async (t) => {
    const { url, heard } = await fakeServer(t, (_, response) => reply(response, 200, { a: 1 }))
    const asking = { ...deadline(5000), traceRunId: 'run-1' }
    const answer = await askMemory({ url, apiKey: 'k' }, ask, { body: { query: 'x' } }, asking)
    assert.deepEqual(answer, { kind: 'ok', status: 200, body: { a: 1 } })
    assert.equal(heard[0]?.headers['authorization'], 'Bearer k')
    assert.equal(heard[0]?.headers['x-run-id'], 'run-1')
    assert.deepEqual(heard[0]?.body, { query: 'x' })
  })

  it('takes nothing for an answer that no reader could be sent', async (t) => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const bodies = ['', 'garbage', '[]', '7', 'null', '{"score": NaN}', '{"a": [1e999]}', deep]
    for (const body of bodies) {
      const answer = await answered(t, 200, body)
      assert.deepEqual(answer, { kind: 'malformed', status: 200 }, body.slice(0, 40))
      assert.ok(isRetryable(answer))
    }
  })

  it('tells a refusal from what passes when it is asked again', async (t) => {
    for (const status of [400, 404, 409, 413, 422]) {
      const answer = await answered(t, status, { detail: 'their words' })
      assert.deepEqual(answer, { kind: 'refused', status, body: { detail: 'their words' } })
      assert.equal(isRetryable(answer), false)
      assert.ok(!describeAnswer(answer).includes('their words'))
    }
    for (const status of [401, 403, 429, 500, 503]) {
      assert.ok(isRetryable(await answered(t, status, 'broken')), String(status))
    }
  })

  it('hands on how long memory wants to be left alone', async (t) => {
    const { url } = await fakeServer(t, (_, response) => {
      response.setHeader('retry-after', '7')
      reply(response, 429, {})
    })
    const answer = await askMemory({ url, apiKey: 'k' }, ask, { body: {} }, deadline(5000))
    assert.equal(answer.kind === 'refused' && answer.retryAfterSeconds, 7)
  })

  it('waits no longer than it may, for the first byte or for the last', async (t) => {
    const silent = await fakeServer(t, () => {})
    const endless = await fakeServer(t, (_, response) => {
      response.writeHead(200).write('{"a":')
    })
    for (const { url } of [silent, endless]) {
      const answer = await askMemory({ url, apiKey: 'k' }, ask, { body: {} }, deadline(50))
      assert.deepEqual(answer, { kind: 'timeout' })
    }
    const deaf = {
      url: 'http://memory.invalid',
      apiKey: 'k',
      fetch: () => new Promise<never>(() => {}),
    }
    assert.deepEqual(await askMemory(deaf, ask, { body: {} }, deadline(50)), { kind: 'timeout' })
  })

  it('says when nobody is there', async (t) => {
    const { url, close } = await fakeServer(t, () => {})
    await close()
    const answer = await askMemory({ url, apiKey: 'k' }, ask, { body: {} }, deadline(5000))
    assert.equal(answer.kind, 'unreachable')
    assert.ok(isRetryable(answer))
  })
})
