import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { fakeServer } from '../../test/support/http-server.ts'
import { blockList } from './networks.ts'
import { sendMessage } from './send-message.ts'

const HERE = {
  allowed: { networks: blockList(['127.0.0.0/8', '::1/128']), httpHosts: new Set(['127.0.0.1']) },
  timeoutSeconds: 5,
}
const NOWHERE = { ...HERE, allowed: { networks: blockList([]), httpHosts: new Set<string>() } }

const message = (url: string) => ({ url, headers: { 'webhook-id': 'one' }, body: '{"a":"б"}' })

async function rawServer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('sendMessage', () => {
  it('posts the message once and counts only what is confirmed', async (t) => {
    for (const [status, error] of [
      [200, null],
      [204, null],
      [301, 'answered 301; redirects are not followed'],
      [404, 'answered 404'],
      [503, 'answered 503'],
    ] as const) {
      const { url, heard } = await fakeServer(t, (_, response) => {
        response.writeHead(status, { location: '/elsewhere', 'retry-after': '7' }).end()
      })
      const attempt = await sendMessage(message(`${url}/hook`), HERE)
      assert.deepEqual([attempt.httpStatus, attempt.error], [status, error])
      assert.equal(attempt.retryAfterSeconds, 7)
      assert.deepEqual(
        heard.map(({ method, path, body, headers }) => [method, path, body, headers['webhook-id']]),
        [['POST', '/hook', { a: 'б' }, 'one']],
      )
    }
  })

  it('reaches no closed network, by address or by a name that leads there', async (t) => {
    let asked = 0
    const url = await rawServer(t, (_, response) => {
      asked += 1
      response.end()
    })
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const attempt = await sendMessage(message(url.replace('127.0.0.1', host)), NOWHERE)
      assert.equal(attempt.error, 'the host leads into a closed network', host)
    }
    assert.equal(asked, 0)
    assert.equal(
      (await sendMessage(message(url.replace('127.0.0.1', 'localhost')), HERE)).error,
      null,
    )
  })

  it('waits for an answer no longer than it is allowed to, also for one that drips', async (t) => {
    const silent = await rawServer(t, () => {})
    const dripping = await rawServer(t, (_, response) => {
      response.write('.')
      const timer = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(timer))
    })
    for (const url of [silent, dripping]) {
      const attempt = await sendMessage(message(url), { ...HERE, timeoutSeconds: 0.2 })
      assert.equal(attempt.error, 'no answer within 0.2 s')
    }
  })

  it('reads no answer to an end that is far away', async (t) => {
    let written = 0
    const url = await rawServer(t, (_, response) => {
      const more = () => {
        if (response.destroyed) return
        written += 65_536
        if (response.write(Buffer.alloc(65_536))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    const attempt = await sendMessage(message(url), HERE)
    assert.deepEqual([attempt.httpStatus, attempt.error], [200, null])
    assert.ok(written < 64 * 1024 * 1024, `${written} bytes were read`)
  })

  it('says what went wrong without saying where', async (t) => {
    const { url, close } = await fakeServer(t, () => {})
    await close()
    const closed = await sendMessage(message(url), HERE)
    assert.equal(closed.error, 'cannot connect: ECONNREFUSED')
    const cut = await rawServer(t, (request) => request.socket.destroy())
    assert.equal((await sendMessage(message(cut), HERE)).error, 'cannot connect: ECONNRESET')
    const plain = await sendMessage(message(cut.replace('http:', 'https:')), HERE)
    assert.match(plain.error ?? '', /^cannot connect: (EPROTO|ECONNRESET)$/)
  })
})
