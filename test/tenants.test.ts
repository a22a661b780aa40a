import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adapterRoutes } from '#adapter/routes.ts'
import { send } from '#client/client.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { createPrincipal } from '#contract/org.ts'
import { contextRoutes } from '#context/routes.ts'
import type { Route } from '#contract/route.ts'
import { honoPath } from '#http/input.ts'
import { createMetrics } from '#http/metrics.ts'
import { orgRoutes } from '#org/routes.ts'
import { workRoutes } from '#work/routes.ts'
import { testApp } from './support/client.ts'
import { sharedDb } from './support/db.ts'
import { TENANT_CASES } from './support/tenant-cases.ts'
import type { TenantCall } from './support/tenant-cases.ts'
import { buildWorld, uuidsIn } from './support/world.ts'
import type { World } from './support/world.ts'

const db = await sharedDb()
const app = testApp(db, (hono, deps) => {
  orgRoutes(hono, deps)
  workRoutes(hono, deps)
  contextRoutes(hono, deps, { provider: null, metrics: createMetrics() })
  adapterRoutes(hono, deps)
})
const ours = await buildWorld(db, app, 5)
const theirs = await buildWorld(db, app, 3)
const bound = new Set(app.routes.map(({ method, path }) => `${method} ${path}`))

function isBound({ method, path }: Route): boolean {
  return bound.has(`${method} ${honoPath(path)}`)
}

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

/** The same request about things that nobody has. */
function aboutNothing(call: TenantCall): TenantCall {
  const swapped = new Map<string, string>()
  const text = JSON.stringify(call.input).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    (id) => {
      if (!ours.ids.has(id)) return id
      const other = swapped.get(id) ?? crypto.randomUUID()
      swapped.set(id, other)
      return other
    },
  )
  return { ...call, input: JSON.parse(text) as TenantCall['input'] }
}

async function countEvents(world: World): Promise<number | undefined> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from events
    where tenant_id = ${world.tenantId}`
  return row?.count
}

describe('another tenant', () => {
  it('is tried on every route of the contract', () => {
    const missing = Object.entries<Route>(controlPlaneRoutes)
      .filter(([id, route]) => isBound(route) && !(id in TENANT_CASES))
      .map(([id]) => id)
    assert.deepEqual(
      missing,
      [],
      'add what the other tenant would try to test/support/tenant-cases.ts',
    )
    const stale = Object.keys(TENANT_CASES).filter((id) => !(id in controlPlaneRoutes))
    assert.deepEqual(stale, [])
  })

  for (const [operationId, route] of Object.entries<Route>(controlPlaneRoutes)) {
    if (!isBound(route)) continue
    const casesOf = TENANT_CASES[operationId] ?? (() => [])
    const proofs = casesOf(ours.thing, ours.thing)
    const calls = casesOf(ours.thing, theirs.thing).map((call, index) => ({
      call,
      number: index + 1,
      proof: proofs[index] ?? call,
    }))

    for (const { call, number, proof } of calls.filter((one) => one.call.kind === 'foreign')) {
      it(`does not learn through ${operationId} that ours exists (${number})`, async () => {
        const before = await countEvents(ours)
        const heard = await ask(theirs, route, call)
        assert.equal(heard.code, call.refusal, heard.text)
        assert.deepEqual(leaks(ours, call, heard), [])
        const nothing = await ask(theirs, route, aboutNothing(call))
        assert.deepEqual(shape(heard), shape(nothing))
        assert.equal(await countEvents(ours), before)
        const proven = await ask(ours, route, proof)
        assert.notEqual(proven.code, 'not_found', `the case proves nothing: ${proven.text}`)
        assert.notEqual(proven.code, 'invalid_request', `the case proves nothing: ${proven.text}`)
      })
    }

    for (const { call, number } of calls.filter((one) => one.call.kind === 'own')) {
      it(`finds nothing of ours in the answer of ${operationId} (${number})`, async () => {
        const heard = await ask(theirs, route, call)
        assert.ok(heard.status < 300 || heard.code === call.refusal, heard.text)
        assert.deepEqual(leaks(ours, call, heard), [])
        const isRead = route.method === 'GET' && !JSON.stringify(call.input).includes('assigneeId')
        if (!isRead) return
        const proven = await ask(ours, route, call)
        const seen = uuidsIn(proven.text).some((id) => ours.ids.has(id))
        assert.ok(seen, `the case proves nothing: ${proven.text}`)
      })
    }
  }

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
