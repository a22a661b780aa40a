import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { ClientOptions } from '#client/client.ts'
import type { TransportName } from '#client/event-transports.ts'
import { followEvents } from '#client/follow-events.ts'
import { NewTask } from '#contract/tasks.ts'
import { databaseUrl } from '#db/address.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { createNotifier } from '#events/notify.ts'
import { readEvents } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { createTask } from '#work/create-task.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDatabase } from '../support/db.ts'
import { startRole } from '../support/program.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { waitFor } from '../support/wait.ts'

const CUTS = 50
const LAST = 'The last one'
/** Events that are written before the slowest reader has seen them; a connection carries about as many. */
const AHEAD = 20

interface Progress {
  seen: string[]
  /** Connections lost after they had brought an event. */
  cuts: number
}

describe('a reader of the journal whose connection is cut at random bytes', () => {
  it('is given each event once and in order over either transport, whatever befalls its server', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const tenant = await testTenant(db)
    const server = await restartable(t, { CP_DATABASE_URL: databaseUrl(address('app')) })
    const names = ['websocket', 'sse'] as const
    const progress = names.map((): Progress => ({ seen: [], cuts: 0 }))
    const leastCuts = () => Math.min(...progress.map(({ cuts }) => cuts))
    const readings = names.map(async (name, index) => {
      const proxy = await tcpProxy(t, server.target, { cutAfter: () => between(100, 12_000) })
      const client = { url: `http://127.0.0.1:${proxy.port}`, token: tenant.key }
      await readToLast(client, name, progress[index] ?? { seen: [], cuts: 0 })
    })

    const writing = writeWhile(db, tenant.ctx, progress, () => leastCuts() < CUTS)
    await waitFor(() => leastCuts() >= CUTS / 3, 30)
    await server.restart('SIGKILL')
    await waitFor(() => leastCuts() >= (2 * CUTS) / 3, 30)
    await server.restart('SIGTERM')
    await Promise.all([writing, ...readings])

    const expected = await idsOf(db, tenant.ctx)
    for (const [index, { seen }] of progress.entries()) {
      assert.deepEqual(seen, expected, names[index])
    }
  })
})

function between(min: number, max: number): number {
  return min + Math.floor(Math.random() * (max - min))
}

/** A server that comes back on another port. */
async function restartable(t: TestContext, settings: Record<string, string>) {
  const start = () => startRole(t, 'api', { ...settings, CP_PORT: '0' })
  const portOf = async (one: ReturnType<typeof start>) =>
    Number((await one.hears(/is ready at http:\/\/127\.0\.0\.1:(\d+)/))[1])
  let running = start()
  let port = await portOf(running)
  return {
    target: () => ({ host: '127.0.0.1', port }),
    restart: async (signal: NodeJS.Signals) => {
      running.kill(signal)
      await running.ended
      running = start()
      port = await portOf(running)
    },
  }
}

async function readToLast(
  client: ClientOptions,
  name: TransportName,
  progress: Progress,
): Promise<void> {
  let before = 0
  const onTrouble = () => {
    if (progress.seen.length > before) progress.cuts += 1
    before = progress.seen.length
  }
  const options = { transports: [name], pauseMs: { min: 1, max: 50 }, onTrouble } as const
  for await (const event of followEvents(client, options)) {
    progress.seen.push(event.id)
    if (event.payload['title'] === LAST) return
  }
}

/** Three writers, whose transactions overlap; then one last event. */
async function writeWhile(
  db: Database,
  ctx: Ctx,
  progress: readonly Progress[],
  goesOn: () => boolean,
): Promise<void> {
  await using notifier = createNotifier(db, (error) => assert.fail(String(error)))
  let written = 0
  const write = async (title: string) => {
    await transaction(db, 'read write', (sql) => createTask(sql, ctx, NewTask.parse({ title })))
    written += 1
    notifier.notify(ctx.tenantId)
  }
  const isFarAhead = () => progress.some(({ seen }) => seen.length < written - AHEAD)
  const writer = async () => {
    while (goesOn()) {
      await waitFor(() => !isFarAhead() || !goesOn(), 30)
      await write('One more')
    }
  }
  await Promise.all([writer(), writer(), writer()])
  await write(LAST)
}

async function idsOf(db: Database, ctx: Ctx): Promise<string[]> {
  const ids: string[] = []
  let page = await readEvents(db, ctx, { limit: 200 })
  for (;;) {
    ids.push(...page.events.map(({ id }) => id))
    if (page.events.at(-1)?.payload['title'] === LAST) return ids
    page = await readEvents(db, ctx, { after: page.next, limit: 200 })
  }
}
