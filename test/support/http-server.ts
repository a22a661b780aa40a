import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface Heard {
  method: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: unknown
}

/** A server on this machine that plays a broken or a wilful one; it keeps what it was asked. */
export async function fakeServer(
  t: TestContext,
  answer: (request: Heard, response: ServerResponse) => void,
): Promise<{ url: string; heard: Heard[]; close: () => Promise<void> }> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      heard.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  t.after(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, close }
}

/** Answers JSON, or text as it is. */
export function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

async function read(request: IncomingMessage): Promise<Heard> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const { method = '', url = '', headers } = request
  const isJson = text !== '' && !headers['content-type']?.includes('urlencoded')
  return { method, path: url, headers, body: isJson ? JSON.parse(text) : text || undefined }
}
