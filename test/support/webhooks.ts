import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import type { JournalEvent } from '#contract/events.ts'
import * as contract from '#contract/webhooks.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { createNotifier } from '#events/notify.ts'
import { blockList } from '#webhooks/networks.ts'
import { runWebhooks } from '#webhooks/run-webhooks.ts'
import type { Sending, Turn } from '#webhooks/turn.ts'
import { testClient } from './client.ts'
import { testTenant } from './ctx.ts'
import { ownDatabase } from './db.ts'
import type { Ending } from './db.ts'
import { fakeServer } from './http-server.ts'
import { wholeApp } from './whole.ts'

/** Somebody who is told of events. */
export interface Receiver {
  url: string
  /** Every message that came, also again, in order. */
  told: JournalEvent[]
  /** Headers of the messages. */
  headers: Record<string, string>[]
  /** The greatest number of messages that were being answered at once. */
  atOnce: () => number
}

type Answer = (event: JournalEvent, response: ServerResponse) => void | Promise<void>

/** A server that keeps what it is told, and answers 204 unless it is told to do otherwise. */
export async function receiver(
  t: TestContext,
  answer: Answer = (_, response) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const told: JournalEvent[] = []
  const headers: Record<string, string>[] = []
  let open = 0
  let most = 0
  const { url } = await fakeServer(t, (heard, response) => {
    open += 1
    most = Math.max(most, open)
    response.once('close', () => (open -= 1))
    told.push(heard.body as JournalEvent)
    headers.push(heard.headers as Record<string, string>)
    void answer(heard.body as JournalEvent, response)
  })
  return { url: `${url}/hook`, told, headers, atOnce: () => most }
}

/** The messages that a receiver with this secret accepts, by the published library. */
export function accepted({ told, headers }: Receiver, secret: string | null): JournalEvent[] {
  const library = new Webhook(secret ?? '')
  return told.filter((event, index) => {
    try {
      library.verify(JSON.stringify(event), headers[index] ?? {})
      return true
    } catch {
      return false
    }
  })
}

export const LOOPBACK = {
  networks: blockList(['127.0.0.0/8']),
  httpHosts: new Set(['127.0.0.1']),
}

export interface Workers {
  /** Starts a worker that delivers webhooks until the end of the test. */
  start: (changes?: Partial<Sending>) => { turns: Turn['done'][]; errors: unknown[] }
}

/** A control plane and workers over a database of their own, which is gone after they are. */
export async function webhookStage(t: Ending) {
  const running: (() => Promise<void>)[] = []
  t.after(async () => {
    await Promise.all(running.map((stop) => stop()))
  })
  const own = await ownDatabase(t, 'control-plane', 'app')
  const app = wholeApp(own.db, null)
  const clientOf = (key: string) => testClient(app, key)
  const place = { db: own.db, address: own.address('app') }
  const start: Workers['start'] = (changes) => {
    const worker = startWorker(place, changes)
    running.push(worker.stop)
    return worker
  }
  const newTenant = async () => {
    const tenant = await testTenant(own.db)
    return { tenant, client: clientOf(tenant.key) }
  }
  return { db: own.db, newTenant, clientOf, start }
}

function startWorker(
  { db, address }: { db: Database; address: DatabaseAddress },
  changes: Partial<Sending> = {},
): { stop: () => Promise<void>; turns: Turn['done'][]; errors: unknown[] } {
  const stop = new AbortController()
  const turns: Turn['done'][] = []
  const errors: unknown[] = []
  const fail = (error: unknown) => {
    errors.push(error)
    process.stderr.write(`Worker failed: ${String(error)}\n`)
  }
  const notifier = createNotifier(db, () => {})
  const sending: Sending = {
    db,
    limits: { allowed: LOOPBACK, timeoutSeconds: 5 },
    batch: 50,
    maxAttempts: 3,
    lockSeconds: 20,
    backoff: { baseSeconds: 0.001, maxSeconds: 0.01 },
    notify: notifier.notify,
    random: () => 1,
    ...changes,
  }
  const watch = async (turn: () => Promise<Turn['done']>) => {
    await turn().then((done) => turns.push(done), fail)
  }
  const worker = { sending, address, pollSeconds: 0.03, watch, onError: fail }
  const running = runWebhooks(worker, stop.signal)
  const end = async () => {
    stop.abort()
    await running
  }
  return { stop: end, turns, errors }
}

export async function addWebhook(
  client: ClientOptions,
  url: string,
  body: Partial<Parameters<typeof createBody>[0]> = {},
) {
  return await call(client, contract.createWebhook, { body: createBody({ url, ...body }) })
}

function createBody(body: {
  url: string
  workspaceId?: string
  filter?: { types?: string[] }
  after?: string
}) {
  return body
}
