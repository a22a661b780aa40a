import { once } from 'node:events'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import type { WebSocketServerLike } from '@hono/node-server'
import type { Hono } from 'hono'
import { WebSocketServer } from 'ws'
import { reason, StartError } from '#lib/start-error.ts'

export interface Listening extends AsyncDisposable {
  url: string
}

/** How long open requests may go on after the server has been told to stop. */
const DRAIN_MS = 5000
const SWEEP_MS = 20
/** Of what a reader sends over a WebSocket: nothing is expected. */
const MAX_MESSAGE_BYTES = 4096

/** Serves an application. Disposing stops accepting, lets requests in hand finish, then cuts the rest. */
export async function listen(
  app: Hono,
  where: { host: string; port: number; setting: string },
): Promise<Listening> {
  const { host, port, setting } = where
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  })
  const websocket = { server: sockets as WebSocketServerLike }
  const server = createAdaptorServer({ fetch: app.fetch, websocket }) as Server
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new StartError(`Cannot listen on ${host}:${port} (${setting}): ${whyNot(cause)}`, {
      cause,
    })
  }
  const address = server.address()
  const actualPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      // A connection whose request was in hand is idle only after its answer.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
      const cut = setTimeout(() => {
        server.closeAllConnections()
        for (const socket of sockets.clients) socket.terminate()
      }, DRAIN_MS)
      await closed
      clearInterval(sweep)
      clearTimeout(cut)
    },
  }
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port',
  EACCES: 'this account may not use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
}

function whyNot(error: unknown): string {
  return WHY[(error as NodeJS.ErrnoException).code ?? ''] ?? reason(error)
}
