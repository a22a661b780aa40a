import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import type { TransportName } from '#client/event-transports.ts'
import { followEvents } from '#client/follow-events.ts'
import { claimTask } from '#contract/claims.ts'
import { listEvents } from '#contract/events-api.ts'
import type { JournalEvent } from '#contract/events.ts'
import * as org from '#contract/org.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask, getTask } from '#contract/tasks.ts'
import { getWebhook } from '#contract/webhooks.ts'
import { databaseUrl } from '#db/address.ts'
import type { Database } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { ownDatabase } from '../support/db.ts'
import { startRole } from '../support/program.ts'
import type { Running } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'
import { addWebhook, receiver } from '../support/webhooks.ts'

const TOKEN = 'bootstrap-token-of-this-test'
const SETTINGS = {
  CP_PORT: '0',
  CP_BOOTSTRAP_TOKEN: TOKEN,
  CP_WORKER_POLL_SECONDS: '0.1',
  CP_WEBHOOK_NETWORKS: '127.0.0.0/8',
  CP_WEBHOOK_HTTP_HOSTS: '127.0.0.1',
}

interface Two {
  here: ClientOptions
  there: ClientOptions
  tenantId: string
}

describe('two APIs and two workers, each a process of its own over one database', () => {
  it('are one control plane: what one does the others know, and nothing is done twice', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const settings = { ...SETTINGS, CP_DATABASE_URL: databaseUrl(address('app')) }
    const start = (role: string) => startRole(t, role, settings)
    const apis = [start('api'), start('api')]
    const first = start('worker')
    const two = await bootstrapped(apis)
    await first.until('Worker is ready')

    const heard = [listen(t, two.there, 'websocket'), listen(t, two.here, 'sse')]
    const ears = await heldReceiver(t)
    const { id: webhookId } = await addWebhook(two.here, ears.url, { filter: { types: ['task.'] } })
    await call(two.there, createTask, { body: { title: 'Told twice' } })
    await waitFor(() => ears.told.length === 1)
    first.kill('SIGKILL')
    await first.ended
    await endLeaseOf(db, two, webhookId)
    const workers = [start('worker'), start('worker')]

    await workOverBoth(two)
    await repeatOverBoth(two)
    for (const one of workers) await one.until('Worker is ready')
    await endLeases(db, two)
    ears.letGo()

    await endAll(two, { heard, told: ears.told, webhookId })
    assert.equal(ears.atOnce(), 1)
    await loseRights(two, heard)
    for (const one of [...apis, ...workers]) {
      one.kill('SIGTERM')
      assert.equal(await one.ended, 0, one.said())
    }
  })
})

async function bootstrapped(apis: readonly Running[]): Promise<Two> {
  const [one = '', other = ''] = await Promise.all(
    apis.map(async (api) => (await api.hears(/is ready at (\S+)/))[1]),
  )
  const body = { slug: 'x', name: 'X' }
  const { tenant, apiKey } = await call({ url: one, token: TOKEN }, org.bootstrap, { body })
  const token = apiKey.key ?? ''
  return { here: { url: one, token }, there: { url: other, token }, tenantId: tenant.id }
}

interface Listening {
  events: JournalEvent[]
  ended: Promise<unknown>
}

/** Follows the journal until it is refused. */
function listen(t: TestContext, client: ClientOptions, transport: TransportName): Listening {
  const over = new AbortController()
  t.after(() => over.abort())
  const events: JournalEvent[] = []
  const follow = async () => {
    const options = { transports: [transport], signal: over.signal } as const
    for await (const event of followEvents(client, options)) events.push(event)
  }
  return { events, ended: follow().catch((error: unknown) => error) }
}

/** A receiver that answers its first message when it is let go; nobody may wait for that then. */
async function heldReceiver(t: TestContext) {
  const held = Promise.withResolvers<void>()
  let messages = 0
  const ears = await receiver(t, async (_, response) => {
    messages += 1
    if (messages === 1) await held.promise
    response.writeHead(204).end()
  })
  return { ...ears, letGo: held.resolve }
}

/** Each step at the other process than the one before. */
async function workOverBoth({ here, there }: Two): Promise<void> {
  const session = await call(here, openSession, { body: { clientName: 'test' } })
  const task = await call(there, createTask, { body: { title: 'Done by both' } })
  const params = { ref: task.id }
  const claim = await call(here, claimTask, { params, body: { sessionId: session.id } })
  const again = { params, body: { sessionId: session.id } }
  await assert.rejects(call(there, claimTask, again), { code: 'task_already_claimed' })
  const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
  const run = await call(there, runs.startRun, { params, body: fence })
  const { fencingToken } = fence
  const ofRun = { params: { id: run.id } }
  const data = { kind: 'progress', data: { step: 1 } }
  await call(here, runs.recordCheckpoint, { ...ofRun, body: { fencingToken, ...data } })
  await call(there, runs.succeedRun, { ...ofRun, body: { fencingToken, completeTask: true } })
  assert.equal((await call(here, getTask, { params })).systemStatusCategory, 'terminal_success')
}

/** The same wish at both at once, and once more: one task, and everybody is told which. */
async function repeatOverBoth({ here, there }: Two): Promise<void> {
  const wish = { body: { title: 'Wished for often' }, idempotencyKey: randomUUID() }
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => send(n % 2 === 0 ? here : there, createTask, wish)),
  )
  const made = await Promise.all(answers.map(async (one) => (await one.json()) as { id?: string }))
  const late = await send(there, createTask, wish)
  assert.equal(late.headers.get('idempotency-replayed'), 'true')
  const { id } = (await late.json()) as { id: string }
  for (const [index, one] of made.entries()) {
    assert.ok(one.id === id || answers[index]?.status === 409, JSON.stringify(one))
  }
  assert.equal(
    answers.filter((one) => one.headers.get('idempotency-replayed') === null && one.ok).length,
    1,
  )
}

/** As if the time of the worker that was killed had passed. */
async function endLeaseOf(db: Database, { tenantId }: Two, webhookId: string): Promise<void> {
  await db`
    update event_consumer_cursors
    set leased_until = clock_timestamp()
    where tenant_id = ${tenantId}
      and name = ${`webhook:${webhookId}`}`
}

const LEASES = 8

/** Leases that are over by now are ended by one of the workers, each once. */
async function endLeases(db: Database, { here, there, tenantId }: Two): Promise<void> {
  for (let n = 0; n < LEASES; n += 1) {
    const client = n % 2 === 0 ? here : there
    const session = await call(client, openSession, { body: { clientName: 'test' } })
    const task = await call(client, createTask, { body: { title: `Left behind ${n}` } })
    const input = { params: { ref: task.id }, body: { sessionId: session.id } }
    await call(client, claimTask, input)
  }
  await db`
    update claims
    set expires_at = clock_timestamp() - interval '1 s'
    where tenant_id = ${tenantId}
      and status = 'active'`
}

/** Everybody has been told of everything in order, and twice only of what a worker was killed over. */
async function endAll(
  { here, there }: Two,
  { heard, told, webhookId }: { heard: Listening[]; told: JournalEvent[]; webhookId: string },
): Promise<void> {
  const expired = { query: { types: 'claim.expired', limit: '200' } }
  await waitFor(async () => (await call(there, listEvents, expired)).items.length >= LEASES)
  const last = await call(here, createTask, { body: { title: 'The last' } })
  const isLast = ({ type, entityId }: JournalEvent) =>
    type === 'task.created' && entityId === last.id
  await waitFor(() => told.some(isLast) && heard.every(({ events }) => events.some(isLast)), 20)
  const { items } = await call(there, listEvents, { query: { limit: '200' } })
  const all = items.slice(0, items.findIndex(isLast) + 1)
  for (const { events } of heard) assert.deepEqual(idsOf(events).slice(0, all.length), idsOf(all))
  assert.equal(all.filter(({ type }) => type === 'claim.expired').length, LEASES)
  const expected = all.filter(({ type }) => type.startsWith('task.'))
  assert.deepEqual(idsOf(told).slice(0, expected.length + 1), [
    idsOf(expected)[0],
    ...idsOf(expected),
  ])
  const { failures, deadLetters } = await call(there, getWebhook, { params: { id: webhookId } })
  assert.deepEqual({ failures, deadLetters }, { failures: 0, deadLetters: 0 })
}

function idsOf(events: readonly JournalEvent[]): string[] {
  return events.map(({ id }) => id)
}

/** A key that ends at one process ends the streams at both. */
async function loseRights({ here, there }: Two, heard: readonly Listening[]): Promise<void> {
  const { principal } = await call(here, org.getMe)
  const key = await call(here, org.createApiKey, {
    params: { id: principal.id },
    body: { name: 'other', permissions: ['admin'] },
  })
  const other = { ...there, token: key.key ?? '' }
  const params = { id: principal.id }
  const { items } = await call(other, org.listApiKeys, { params, query: { limit: '200' } })
  const old = items.find(({ id }) => id !== key.id)
  await call(other, org.revokeApiKey, { params: { id: old?.id ?? '' } })
  for (const { ended } of heard) {
    const error = await ended
    assert.ok(error instanceof AppError && error.code === 'invalid_credentials', String(error))
  }
}
