import { upgradeWebSocket } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WebSocket } from 'ws'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { Route } from '#contract/route.ts'
import { AppError, ERROR_CODES } from '#lib/errors.ts'
import { STATUS } from './errors.ts'
import { honoPath } from './input.ts'
import { openStream, refusedMessage } from './open-stream.ts'
import type { Batch, Opened, Stream } from './open-stream.ts'
import { traceOf } from './serve.ts'

/**
 * Serves a stream as messages of a WebSocket, each one JSON. A refusal is a message too, and then the
 * close code: browsers do not show why a handshake failed. Nothing is expected from the reader. A
 * request without an upgrade learns what would be refused, and else `upgrade_required`.
 */
export function bindSocket<R extends Route>(app: Hono, stream: Stream<R>): void {
  const upgrade = upgradeWebSocket((c) => ({
    onOpen: (_, { raw }) => {
      const socket = raw as WebSocket
      const { beatSeconds, stallSeconds, meter } = stream.options
      const stall = () => {
        meter.stalled('websocket')
        socket.terminate()
      }
      void serveSocket(socket, openStream(c, stream), {
        beatSeconds,
        send: (batch) => sendAll(socket, batch, { stall, ms: stallSeconds * 1000 }),
        refuse: (error) => {
          if (!(error instanceof AppError)) stream.deps.log.error('Stream failed', error)
          return refusedMessage(error, traceOf(c))
        },
      })
    },
  }))
  app.get(honoPath(stream.route.path), async (c) => {
    const upgraded = await upgrade(c, async () => {})
    if (upgraded) return upgraded
    const opened = await openStream(c, stream)
    opened[Symbol.dispose]()
    throw new AppError('upgrade_required', 'Cannot stream to a request: ask for a WebSocket')
  })
}

interface Serving {
  beatSeconds: number
  send: (batch: Batch) => Promise<void>
  refuse: (error: unknown) => StreamMessage
}

async function serveSocket(
  socket: WebSocket,
  opening: Promise<Opened>,
  { beatSeconds, send, refuse }: Serving,
): Promise<void> {
  const stopBeat = beat(socket, beatSeconds * 1000)
  // What happens to the connection ends in 'close'.
  socket.on('error', () => {})
  let last: StreamMessage | undefined
  try {
    const opened = await opening
    socket.once('close', () => opened[Symbol.dispose]())
    if (socket.readyState !== socket.OPEN) opened[Symbol.dispose]()
    for await (const batch of opened.batches) {
      await send(batch)
      last = batch.at(-1)
    }
    opened[Symbol.dispose]()
  } catch (error) {
    last = refuse(error)
    await send([last])
  }
  stopBeat()
  const [code, reason] = closing(last)
  socket.close(code, reason)
}

/** Resolves when the kernel has taken the batch, or the connection is gone; cuts who takes nothing. */
async function sendAll(
  socket: WebSocket,
  batch: Batch,
  { stall, ms }: { stall: () => void; ms: number },
): Promise<void> {
  if (batch.length === 0 || socket.readyState !== socket.OPEN) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const stalled = setTimeout(stall, ms)
  let left = batch.length
  for (const message of batch) {
    socket.send(JSON.stringify(message), () => {
      left -= 1
      if (left === 0) resolve()
    })
  }
  await promise
  clearTimeout(stalled)
}

/** Cuts a connection whose other end does not answer from one beat to the next. */
function beat(socket: WebSocket, ms: number): () => void {
  let isAlive = true
  socket.on('pong', () => (isAlive = true))
  const timer = setInterval(() => {
    if (!isAlive) socket.terminate()
    isAlive = false
    socket.ping()
  }, ms)
  const stop = () => clearInterval(timer)
  socket.once('close', stop)
  return stop
}

/** RFC 6455, section 7.4: 1000 done, 1001 going away; 4000 and above are ours. */
function closing(last: StreamMessage | undefined): [number, string] {
  if (last?.type === 'end') return [last.reason === 'shutdown' ? 1001 : 1000, last.reason]
  if (last?.type !== 'refused') return [1000, '']
  return [closeCode(last.error.code), last.error.code]
}

/** 4000 + the status of a refusal; both kinds of bad input are 4400, and what is our fault 1011. */
function closeCode(code: string): number {
  const known = ERROR_CODES.find((one) => one === code)
  const status = known === undefined ? 500 : STATUS[known]
  if (status === 500) return 1011
  return 4000 + (status === 422 ? 400 : status)
}
