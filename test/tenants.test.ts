import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { getContext } from '#contract/context.ts'
import { createPrincipal } from '#contract/org.ts'
import type { Route } from '#contract/route.ts'
import { honoPath } from '#http/input.ts'
import { providerAt } from './support/context.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'
import { deliverTo } from './support/deliver.ts'
import { testMemory } from './support/memory.ts'
import { schemaOf } from './support/refusals.ts'
import { TENANT_CASES } from './support/tenant-cases.ts'
import type { TenantCall } from './support/tenant-call.ts'
import { buildWorld, COMMON, uuidsIn } from './support/world.ts'
import type { World } from './support/world.ts'
import { wholeApp } from './support/whole.ts'

const db = await sharedDb()
const memory = testMemory(await sharedMemoryDb())
const provider = providerAt('http://memory.test', { fetch: memory.fetch, timeoutSeconds: 20 })
const app = wholeApp(db, provider)
const ours = await buildWorld(db, app, 5)
const theirs = await buildWorld(db, app, 3)
await deliverTo(memory, db, ours.ctx)
await deliverTo(memory, db, theirs.ctx)

interface Heard {
  status: number
  text: string
  code: string | undefined
}

async function ask(world: World, route: Route, { input }: TenantCall): Promise<Heard> {
  const response = await send(world.client, route, input)
  const text = await response.text()
  const code = response.ok ? undefined : /"code":"(\w+)"/.exec(text)?.[1]
  return { status: response.status, text, code }
}

/** What an answer tells of the other tenant beyond what the request itself already said. */
function leaks(of: World, { input }: TenantCall, { text }: Heard): string[] {
  const said = new Set(uuidsIn(JSON.stringify(input)))
  const ids = uuidsIn(text).filter((id) => of.ids.has(id) && !said.has(id))
  const withoutInput = JSON.stringify(input).includes(of.marker) ? '' : text
  return withoutInput.includes(of.marker) ? [...ids, of.marker] : ids
}

function shows({ text }: Heard, world: World): boolean {
  return text.includes(world.marker) || uuidsIn(text).some((id) => world.ids.has(id))
}

/** The same request about things that nobody has. */
function aboutNothing(attempt: TenantCall): TenantCall {
  const swapped = new Map<string, string>()
  const text = JSON.stringify(attempt.input).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => {
      if (!ours.ids.has(id)) return id
      const other = swapped.get(id) ?? crypto.randomUUID()
      swapped.set(id, other)
      return other
    },
  )
  return { ...attempt, input: JSON.parse(text) as TenantCall['input'] }
}

/** Places for ids of things that do not exist yet. */
const NAMES_NOTHING: readonly string[] = []

type Place = ['params' | 'query' | 'body', string]

/** The fields of a route that take the id of something, or the public id of a task. */
function placesOfIds(route: Route): Place[] {
  return (['params', 'query', 'body'] as const).flatMap((part) =>
    Object.entries(schemaOf(route[part]).properties ?? {})
      .filter(([, schema]) => /"format":"uuid"|TASK-/.test(JSON.stringify(schema)))
      .map(([name]): Place => [part, name]),
  )
}

function isOurs(input: TenantCall['input'], [part, name]: Place): boolean {
  const value = (input[part] as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' && JSON.stringify(ours.thing).includes(`"${value}"`)
}

async function recall(world: World): Promise<string> {
  const reply = await call(world.client, getContext, { body: { query: COMMON } })
  assert.equal(reply.memoryStatus, 'ok')
  return JSON.stringify(reply.memory)
}

async function countEvents(world: World): Promise<number | undefined> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from events
    where tenant_id = ${world.ctx.tenantId}`
  return row?.count
}

describe('another tenant', () => {
  it('is tried on every route of the contract', () => {
    const missing = Object.keys(controlPlaneRoutes).filter((id) => !(id in TENANT_CASES))
    assert.deepEqual(
      missing,
      [],
      'add what the other tenant would try to test/support/tenant-cases.ts',
    )
    const stale = Object.keys(TENANT_CASES).filter((id) => !(id in controlPlaneRoutes))
    assert.deepEqual(stale, [])
  })

  it('names a thing of ours in every place of a request that can name one', () => {
    const named = Object.entries<Route>(controlPlaneRoutes).flatMap(([operationId, route]) => {
      const calls = TENANT_CASES[operationId]?.(ours.thing, theirs.thing) ?? []
      return placesOfIds(route)
        .filter((place) => !calls.some(({ input }) => isOurs(input, place)))
        .map(([part, name]) => `${operationId} ${part}.${name}`)
    })
    assert.deepEqual(
      named.filter((place) => !NAMES_NOTHING.includes(place)),
      [],
    )
  })

  for (const [operationId, route] of Object.entries<Route>(controlPlaneRoutes)) {
    const casesOf = TENANT_CASES[operationId] ?? (() => [])
    const proofs = casesOf(ours.thing, ours.thing)
    const calls = casesOf(ours.thing, theirs.thing).map((one, index) => ({
      attempt: one,
      number: index + 1,
      proof: proofs[index] ?? one,
    }))

    for (const { attempt, number, proof } of calls.filter(
      (one) => one.attempt.kind === 'foreign',
    )) {
      it(`does not learn through ${operationId} that ours exists (${number})`, async () => {
        const before = await countEvents(ours)
        const heard = await ask(theirs, route, attempt)
        assert.equal(heard.code, attempt.refusal, heard.text)
        assert.deepEqual(leaks(ours, attempt, heard), [])
        const nothing = await ask(theirs, route, aboutNothing(attempt))
        assert.deepEqual(shape(heard), shape(nothing))
        assert.equal(await countEvents(ours), before)
        const proven = await ask(ours, route, proof)
        assert.notEqual(proven.code, 'not_found', `the case proves nothing: ${proven.text}`)
        assert.notEqual(proven.code, 'invalid_request', `the case proves nothing: ${proven.text}`)
      })
    }

    for (const { attempt, number, proof } of calls.filter((one) => one.attempt.kind === 'own')) {
      it(`finds nothing of ours in the answer of ${operationId} (${number})`, async () => {
        const heard = await ask(theirs, route, attempt)
        assert.ok(heard.status < 300, heard.text)
        assert.deepEqual(leaks(ours, attempt, heard), [])
        if (!attempt.shows) return
        const proven = await ask(ours, route, proof)
        assert.ok(shows(proven, ours), `the case proves nothing: ${proven.text}`)
      })
    }
  }

  it('is tried on everything that is served, and everything promised is served', () => {
    const served = app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/'))
      .map(({ method, path }) => `${method} ${path}`)
    const promised = Object.values<Route>(controlPlaneRoutes).map(
      ({ method, path }) => `${method} ${honoPath(path)}`,
    )
    assert.deepEqual(served.toSorted(), promised.toSorted())
  })

  it('is told by memory what it knows itself, and nothing that we know', async () => {
    const [our, their] = [await recall(ours), await recall(theirs)]
    assert.ok(our.includes(ours.marker) && !our.includes(theirs.marker))
    assert.ok(their.includes(theirs.marker) && !their.includes(ours.marker))
    assert.deepEqual(
      uuidsIn(their).filter((id) => ours.ids.has(id)),
      [],
    )
  })

  it('cannot replay our answer by our Idempotency-Key', async () => {
    const idempotencyKey = crypto.randomUUID()
    const body = { kind: 'service', displayName: `replayed ${ours.marker}` } as const
    const first = await send(ours.client, createPrincipal, { body, idempotencyKey })
    const second = await send(theirs.client, createPrincipal, { body, idempotencyKey })

    assert.equal(second.status, 201)
    assert.equal(second.headers.get('idempotency-replayed'), null)
    const [one, two] = [await first.text(), await second.text()]
    assert.notEqual(uuidsIn(one)[0], uuidsIn(two)[0])
  })
})

/** An answer without the ids that the request chose and the trace of the request. */
function shape({ status, text }: Heard): unknown {
  return [status, text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')]
}
