import type { TestContext } from 'node:test'
import { fakeServer } from './http-server.ts'
import type { Heard } from './http-server.ts'

/** A request that went through, and what was answered to it. */
export interface Exchange extends Heard {
  status: number
  answer: string
}

export interface RecordingProxy {
  url: string
  exchanges: readonly Exchange[]
  close: () => Promise<void>
}

/**
 * Called when the server has answered and the client does not know it yet; with `false` the answer is
 * never passed on and the connection is cut.
 */
export type BeforeRelay = (exchange: Exchange) => boolean | Promise<boolean>

/** Stands on loopback between a client and a server and keeps everything that goes through. */
export async function recordingProxy(
  t: TestContext,
  upstream: string | typeof fetch,
  beforeRelay: BeforeRelay = () => true,
): Promise<RecordingProxy> {
  const exchanges: Exchange[] = []
  const base = typeof upstream === 'string' ? upstream : 'http://upstream.invalid'
  const ask = typeof upstream === 'string' ? fetch : upstream
  const server = await fakeServer(t, (heard, response) => {
    const pass = async () => {
      const reply = await ask(`${base}${heard.path}`, {
        method: heard.method,
        headers: passedOn(heard),
        ...(heard.body !== undefined && { body: JSON.stringify(heard.body) }),
      })
      const exchange = { ...heard, status: reply.status, answer: await reply.text() }
      exchanges.push(exchange)
      if (!(await beforeRelay(exchange))) {
        response.destroy()
        return
      }
      const type = reply.headers.get('content-type') ?? 'application/json'
      response.writeHead(reply.status, { 'content-type': type }).end(exchange.answer)
    }
    pass().catch((error: unknown) => response.destroy(error as Error))
  })
  return { url: server.url, exchanges, close: server.close }
}

function passedOn({ headers }: Heard): Record<string, string> {
  const names = ['authorization', 'content-type', 'x-run-id', 'idempotency-key']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
