import type { TestContext } from 'node:test'
import type { ClientOptions } from '#client/client.ts'
import { TRANSPORTS } from '#client/event-transports.ts'
import type { StreamQuery, TransportName } from '#client/event-transports.ts'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { Database } from '#db/sql.ts'
import { listen } from '../../src/listen.ts'
import { testStreams } from './streams.ts'
import { wholeApp } from './whole.ts'

export interface StreamServer {
  url: string
  client: (key: string) => ClientOptions
  /** Stops like the program does: streams are told, then the server closes. */
  stop: () => Promise<void>
}

/** The whole control plane on a port of this machine, with streams of these settings. */
export async function streamServer(
  t: TestContext,
  db: Database,
  changes: Parameters<typeof testStreams>[1] = {},
): Promise<StreamServer> {
  const stopping = new AbortController()
  const streams = testStreams(db, { ...changes, stopping: stopping.signal })
  const app = wholeApp(db, null, { streams })
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'test' })
  let stopped: Promise<void> | undefined
  const stop = () =>
    (stopped ??= (async () => {
      stopping.abort()
      await server[Symbol.asyncDispose]()
      await streams.heads[Symbol.asyncDispose]()
    })())
  t.after(stop)
  return { url: server.url, client: (token) => ({ url: server.url, token }), stop }
}

/** A stream that is read by hand, message after message. */
export interface Reading {
  next: () => Promise<StreamMessage | undefined>
  /** Passes over what is said about places. */
  nextEvent: () => Promise<string | undefined>
  /** Everything up to its end. */
  rest: () => Promise<StreamMessage[]>
}

/** Opens a stream; it is closed at the end of the test. */
export function read(
  t: TestContext,
  client: ClientOptions,
  name: TransportName,
  query: StreamQuery = {},
): Reading {
  const over = new AbortController()
  t.after(() => over.abort())
  const messages = TRANSPORTS[name](client, query, over.signal)
  const next = async () => (await messages.next()).value as StreamMessage | undefined
  return {
    next,
    nextEvent: async () => {
      for (;;) {
        const message = await next()
        if (message?.type === 'event') return message.event.id
        if (message?.type !== 'position') return undefined
      }
    },
    rest: async () => {
      const all: StreamMessage[] = []
      for await (const message of messages) all.push(message)
      return all
    },
  }
}
