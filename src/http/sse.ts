import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { Route } from '#contract/route.ts'
import { honoPath } from './input.ts'
import { openStream } from './open-stream.ts'
import type { Batch, Opened, Stream } from './open-stream.ts'

/**
 * Serves a stream as Server-Sent Events. What is refused before the first message is answered as a
 * request is. The next batch is made only when the reader has taken the one before, so what is held for
 * it is one batch; a reader that takes nothing for the time allowed is cut, and comes again from the last
 * id that it has. Source: WHATWG HTML, "Server-sent events".
 */
export function bindSse<R extends Route>(app: Hono, stream: Stream<R>): void {
  app.get(honoPath(stream.route.path), async (c) => {
    const opened = await openStream(c, stream)
    c.header('Content-Type', 'text/event-stream; charset=utf-8')
    c.header('Cache-Control', 'no-store, no-transform')
    // Proxies such as nginx would collect what is meant to arrive at once.
    c.header('X-Accel-Buffering', 'no')
    if (c.req.method === 'HEAD') {
      // Nobody will read the body, nor say that it is not wanted.
      opened[Symbol.dispose]()
      return c.body(null)
    }
    const { meter, stallSeconds } = stream.options
    const stall = () => {
      meter.stalled('sse')
      cut(c)
    }
    return c.body(bodyOf(opened, stall, stallSeconds * 1000))
  })
}

/** The connection, where there is one: an application called in its own process has none. */
function cut(c: Context): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  outgoing?.destroy()
}

function bodyOf(opened: Opened, stall: () => void, stallMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const close = () => {
    clearTimeout(stalled)
    opened[Symbol.dispose]()
  }
  const wait = () =>
    setTimeout(() => {
      close()
      stall()
    }, stallMs)
  let stalled = wait()
  return new ReadableStream(
    {
      async pull(controller) {
        clearTimeout(stalled)
        const { done, value } = await opened.batches.next()
        if (done) {
          close()
          controller.close()
          return
        }
        controller.enqueue(encoder.encode(frames(value)))
        stalled = wait()
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}

function frames(batch: Batch): string {
  return batch.map(frame).join('')
}

function frame(message: StreamMessage): string {
  const id = cursorOf(message)
  const name = message.type === 'event' ? '' : `event: ${message.type}\n`
  return `${id === null ? '' : `id: ${id}\n`}${name}data: ${JSON.stringify(message)}\n\n`
}

function cursorOf(message: StreamMessage): string | null {
  if (message.type === 'event') return message.event.cursor
  return message.type === 'refused' ? null : message.cursor
}
