import { on } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { z } from 'zod'
import { StreamMessage, streamEvents, streamEventsBySocket } from '#contract/event-stream.ts'
import { listEvents } from '#contract/events-api.ts'
import {
  call,
  headersOf,
  parse,
  readReply,
  refusal,
  send,
  TransportError,
  urlOf,
} from './client.ts'
import type { ClientOptions } from './client.ts'

export type StreamQuery = z.input<typeof streamEvents.query>

/**
 * Messages of the journal's stream until either side ends it. Throws the server's refusal as `AppError`,
 * or `TransportError`; a connection that was cut ends like one that was closed.
 */
export type Transport = (
  client: ClientOptions,
  query: StreamQuery,
  signal: AbortSignal,
) => AsyncGenerator<StreamMessage>

export const TRANSPORTS = {
  websocket: overSocket,
  sse: overSse,
  pages: overPages,
} as const satisfies Record<string, Transport>
export type TransportName = keyof typeof TRANSPORTS

async function* overSse(
  client: ClientOptions,
  query: StreamQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const response = await send(client, streamEvents, { query, signal })
  if (!response.ok) throw refusal(response, parse(await response.text().catch(() => '')))
  const { status, body } = response
  if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await body?.cancel()
    throw new TransportError(`Cannot stream from ${client.url}: it sent something else`, { status })
  }
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of readAll(body)) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    // A frame counts only when it is whole.
    text = frames.pop() ?? ''
    for (const frame of frames) yield* messagesOf(client, dataOf(frame))
  }
}

/** The chunks of a body; one that is cut just ends. */
async function* readAll(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (done || value === undefined) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function dataOf(frame: string): string {
  const lines = frame.split('\n').filter((line) => line.startsWith('data:'))
  return lines.map((line) => line.slice('data:'.length).trimStart()).join('\n')
}

const HANDSHAKE_MS = 10_000
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024
/** Messages held for a handler that is slower than the server; above it the connection is not read. */
const MAX_HELD = 64

async function* overSocket(
  client: ClientOptions,
  query: StreamQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const url = urlOf(client.url, streamEventsBySocket, { query })
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(url, {
    headers: headersOf(client, streamEventsBySocket, {}),
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  // A failure shows in the iteration, or is of no interest any more.
  socket.on('error', () => {})
  const messages = on(socket, 'message', {
    signal,
    close: ['close'],
    highWaterMark: MAX_HELD,
    lowWaterMark: MAX_HELD / 4,
  })
  try {
    for await (const [data] of messages) yield* messagesOf(client, String(data))
  } catch (cause) {
    if (signal.aborted || cause instanceof TransportError) throw cause
    throw new TransportError(`Cannot reach ${client.url} by WebSocket`, { cause })
  } finally {
    socket.terminate()
  }
}

/** The message in a text; none of a kind that only a newer server knows. */
function* messagesOf(client: ClientOptions, text: string): Generator<StreamMessage> {
  if (text === '') return
  const body = parse(text) as { type?: unknown } | undefined
  const isKnown = StreamMessage.options.some(({ shape }) => shape.type.value === body?.type)
  if (body === undefined || isKnown) yield readReply(client, StreamMessage, { body })
}

const POLL_MS = 1000
const PAGE = '200'

/** For where nothing that stays open gets through: page after page, with a pause when nothing is new. */
async function* overPages(
  client: ClientOptions,
  query: StreamQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const { cursor, after = cursor, tail } = query
  const filter = filterOf(query)
  let place: { after?: string; tail?: string } = after === undefined ? {} : { after }
  if (tail !== undefined) place = { tail: tail === '0' ? '1' : tail }
  for (let isFirst = true; ; isFirst = false) {
    const wish = { ...filter, ...place, ...(!place.tail && { limit: PAGE }) }
    const page = await call(client, listEvents, { query: wish, signal })
    const isLast = place.tail !== undefined || !page.hasMore
    if (!(isFirst && tail === '0')) {
      for (const event of page.items) yield { type: 'event', event }
    }
    yield { type: 'position', cursor: page.nextCursor }
    place = { after: page.nextCursor }
    if (isLast) await pause(POLL_MS, undefined, { signal })
  }
}

function filterOf({ types, entityType, entityId, workspaceId, actorId, from, to }: StreamQuery) {
  return { types, entityType, entityId, workspaceId, actorId, from, to }
}
