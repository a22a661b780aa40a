import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { Hono } from 'hono'
import { listen } from './listen.ts'

const HERE = { host: '127.0.0.1', port: 0, setting: 'PORT' }

describe('listen', () => {
  it('lets the request in hand finish, takes no other, and waits for no idle connection', async (t) => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const app = new Hono().get('/', async (c) => {
      asked.resolve()
      return c.text(await answer.promise)
    })
    const server = await listen(app, HERE)
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      get(server.url, { agent }, resolve).on('error', reject)
    })
    await asked.promise

    const stopped = server[Symbol.asyncDispose]()
    await assert.rejects(fetch(server.url))
    answer.resolve('done')

    const text = await (await response).setEncoding('utf8').toArray()
    assert.deepEqual(text, ['done'])
    await stopped
  })

  it('says in one sentence why it cannot', async () => {
    const server = await listen(new Hono(), HERE)
    const port = Number(new URL(server.url).port)
    await assert.rejects(listen(new Hono(), { ...HERE, port }), {
      name: 'StartError',
      message: `Cannot listen on 127.0.0.1:${port} (PORT): another program uses the port`,
    })
    await server[Symbol.asyncDispose]()
  })
})
