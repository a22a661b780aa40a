import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import { recordObservation } from '#contract/observations.ts'
import { revokeApiKey, updatePrincipal } from '#contract/org.ts'
import { createTask } from '#contract/tasks.ts'
import * as contract from '#contract/webhooks.ts'
import { moveWorkspace } from '#contract/workspaces.ts'
import { addWorkspace } from '../../test/support/context.ts'
import { waitFor } from '../../test/support/wait.ts'
import { accepted, addWebhook, receiver, webhookStage } from '../../test/support/webhooks.ts'

const { db, newTenant, clientOf, start } = await webhookStage({ after })
start()

const TASKS = { filter: { types: ['task.'] } }

async function addTask(client: ClientOptions, title: string, workspaceId?: string) {
  const place = workspaceId === undefined ? {} : { workspaceId }
  await call(client, createTask, { body: { title, ...place } })
}

const titles = (events: readonly { payload: Record<string, unknown> }[]) =>
  events.map(({ payload }) => payload['title'])

const show = (client: ClientOptions, id: string) =>
  call(client, contract.getWebhook, { params: { id } })

async function logOf(client: ClientOptions, id: string, atLeast: number) {
  const read = async () =>
    (await call(client, contract.listWebhookDeliveries, { params: { id } })).items
  await waitFor(async () => (await read()).length >= atLeast)
  return await read()
}

describe('a webhook', () => {
  it('tells its receiver every event that it names, once, in order and signed', async (t) => {
    const { client } = await newTenant()
    const ears = await receiver(t)
    const { id, secret } = await addWebhook(client, ears.url, TASKS)
    for (const title of ['one', 'two', 'three']) await addTask(client, title)
    await waitFor(() => ears.told.length >= 3)
    const query = { types: 'task.', limit: '200' }
    const { items } = await call(client, listEvents, { query })
    assert.deepEqual(ears.told, items)
    assert.equal(accepted(ears, secret).length, 3)
    assert.deepEqual(
      ears.headers.map((headers) => headers['webhook-id']),
      items.map((event) => event.id),
    )
    const log = await logOf(client, id, 3)
    assert.deepEqual(
      log.map(({ eventId, outcome, httpStatus }) => [eventId, outcome, httpStatus]),
      items.toReversed().map((event) => [event.id, 'delivered', 204]),
    )
  })

  it('moves on past what it does not name', async (t) => {
    const { client } = await newTenant()
    const ears = await receiver(t)
    const { id } = await addWebhook(client, ears.url, { filter: { types: ['nothing.'] } })
    await addTask(client, 'passed over')
    await waitFor(async () => {
      const { nextCursor } = await call(client, listEvents, { query: { tail: '1' } })
      return (await show(client, id)).cursor === nextCursor
    })
    assert.deepEqual(ears.told, [])
  })

  it('is tried again at the same event until it arrives, and tells nothing later before', async (t) => {
    const { client } = await newTenant()
    let failures = 2
    const ears = await receiver(t, (_, response) => {
      failures -= 1
      response.writeHead(failures >= 0 ? 500 : 200).end()
    })
    const { id } = await addWebhook(client, ears.url, TASKS)
    for (const title of ['one', 'two']) await addTask(client, title)
    const items = await logOf(client, id, 4)
    assert.deepEqual(titles(ears.told), ['one', 'one', 'one', 'two'])
    assert.deepEqual(
      items.toReversed().map(({ attempt, outcome }) => `${attempt} ${outcome}`),
      ['1 failed', '2 failed', '3 delivered', '1 delivered'],
    )
  })

  it('gives an event up after the last attempt, goes on, and tries it again or not as it is told', async (t) => {
    const { client } = await newTenant()
    let isFixed = false
    const ears = await receiver(t, ({ payload }, response) => {
      const isBad = !isFixed && String(payload['title']).startsWith('bad')
      response.writeHead(isBad ? 400 : 200).end()
    })
    const { id } = await addWebhook(client, ears.url, TASKS)
    for (const title of ['bad 1', 'good 1', 'bad 2', 'good 2']) await addTask(client, title)
    await waitFor(() => titles(ears.told).includes('good 2'))
    await waitFor(async () => (await show(client, id)).deadLetters === 2)
    const params = { id }
    const { items } = await call(client, contract.listDeadLetters, { params })
    const [second, first] = items
    assert.deepEqual([first?.attempts, first?.httpStatus, first?.error], [3, 400, 'answered 400'])
    assert.equal(titles(ears.told).filter((title) => title === 'bad 1').length, 3)
    const letter = { id, eventId: second?.eventId ?? '' }
    await call(client, contract.skipDeadLetter, { params: letter })
    await assert.rejects(call(client, contract.skipDeadLetter, { params: letter }), {
      code: 'not_found',
    })
    isFixed = true
    assert.deepEqual(await call(client, contract.redriveDeadLetters, { params }), { redriven: 1 })
    await waitFor(async () => (await show(client, id)).deadLetters === 0)
    assert.equal(titles(ears.told).at(-1), 'bad 1')
    assert.equal(titles(ears.told).filter((title) => title === 'bad 2').length, 3)
  })

  it('is paused when its receiver takes none of five events, or is gone, and goes on when resumed', async (t) => {
    const { client } = await newTenant()
    let status = 500
    const ears = await receiver(t, (_, response) => void response.writeHead(status).end())
    const { id } = await addWebhook(client, ears.url, TASKS)
    for (let n = 1; n <= 7; n += 1) await addTask(client, `task ${n}`)
    await waitFor(async () => (await show(client, id)).status === 'paused')
    const paused = await show(client, id)
    assert.equal(paused.pauseReason, '5 events in a row failed')
    assert.equal(paused.deadLetters, 5)
    assert.equal(ears.told.length, 15)
    status = 410
    await call(client, contract.resumeWebhook, { params: { id } })
    await waitFor(async () => (await show(client, id)).pauseReason === 'the receiver is gone')
    status = 200
    await call(client, contract.resumeWebhook, { params: { id } })
    await waitFor(() => ears.told.length >= 18)
    assert.deepEqual(titles(ears.told.slice(15)), ['task 6', 'task 6', 'task 7'])
    const journal = async () =>
      (await call(client, listEvents, { query: { types: 'webhook.', limit: '200' } })).items
    await waitFor(async () => (await journal()).length >= 5)
    assert.deepEqual(
      (await journal()).map(({ type, actorId }) => [type, actorId === null]),
      [
        ['webhook.created', false],
        ['webhook.paused', true],
        ['webhook.resumed', false],
        ['webhook.paused', true],
        ['webhook.resumed', false],
      ],
    )
  })

  it('is signed with both secrets while one takes over from the other', async (t) => {
    const { client } = await newTenant()
    const ears = await receiver(t)
    const { id, secret: first } = await addWebhook(client, ears.url, TASKS)
    const params = { id }
    const { secret: second } = await call(client, contract.rotateWebhookSecret, { params })
    await addTask(client, 'both')
    await waitFor(() => ears.told.length === 1)
    const body = { overlapSeconds: 0 }
    const { secret: third } = await call(client, contract.rotateWebhookSecret, { params, body })
    await addTask(client, 'only the last')
    await waitFor(() => ears.told.length === 2)
    assert.deepEqual(titles(accepted(ears, first)), ['both'])
    assert.deepEqual(titles(accepted(ears, second)), ['both'])
    assert.deepEqual(titles(accepted(ears, third)), ['only the last'])
  })
})

describe('what a webhook tells', () => {
  it('is what its owner may read now: not a moment longer', async (t) => {
    const { client, tenant } = await newTenant()
    const owner = await tenant.caller(['webhooks.manage', 'webhooks.read', 'events.read'])
    const ears = await receiver(t)
    const { id } = await addWebhook(clientOf(owner.key), ears.url, TASKS)
    await addTask(client, 'told')
    await waitFor(() => ears.told.length === 1)
    const params = { id: owner.ctx.actorId }
    const suspend = { params, ifMatch: 1, body: { status: 'suspended' } } as const
    await call(client, updatePrincipal, suspend)
    await addTask(client, 'kept back')
    await waitFor(async () => (await show(client, id)).pauseReason === 'the owner is suspended')
    await call(client, updatePrincipal, { params, ifMatch: 2, body: { status: 'active' } })
    await call(client, contract.resumeWebhook, { params: { id } })
    await waitFor(() => ears.told.length === 2)
    await call(client, revokeApiKey, { params: { id: owner.ctx.credentialId ?? '' } })
    await addTask(client, 'never told')
    await waitFor(async () => {
      return (await show(client, id)).pauseReason === 'the owner may not read events'
    })
    assert.deepEqual(titles(ears.told), ['told', 'kept back'])
  })

  it('ends where its workspace does, wherever that has been moved', async (t) => {
    const { client, tenant } = await newTenant()
    const root = await addWorkspace(db, tenant.ctx)
    const inner = await addWorkspace(db, tenant.ctx, root)
    const other = await addWorkspace(db, tenant.ctx)
    const ears = await receiver(t)
    const { id } = await addWebhook(client, ears.url, { ...TASKS, workspaceId: root })
    await addTask(client, 'outside', other)
    await addTask(client, 'nowhere')
    await addTask(client, 'inside', inner)
    await waitFor(() => ears.told.length === 1)
    await call(client, moveWorkspace, { params: { id: inner }, body: { parentId: null } })
    await addTask(client, 'moved away', inner)
    await addTask(client, 'still here', root)
    await waitFor(() => ears.told.length === 2)
    assert.deepEqual(titles(ears.told), ['inside', 'still here'])
    assert.equal((await show(client, id)).failures, 0)
  })

  it('holds no text that is private to its author, were it the owner', async (t) => {
    const { client } = await newTenant()
    const ears = await receiver(t)
    await addWebhook(client, ears.url, { filter: { types: ['observation.'] } })
    const secret = { kind: 'note', content: 'only for me', data: { visibility: 'private' } }
    await call(client, recordObservation, { body: secret })
    await call(client, recordObservation, { body: { kind: 'note', content: 'for all' } })
    await waitFor(() => ears.told.length === 2)
    assert.equal(ears.told[1]?.payload['content'], 'for all')
    assert.doesNotMatch(JSON.stringify(ears.told), /only for me/)
  })
})
