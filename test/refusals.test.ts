import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controlPlaneRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { TEST_BOOTSTRAP_TOKEN, TEST_LIMITS } from './support/client.ts'
import { testTenant } from './support/ctx.ts'
import { sharedDb } from './support/db.ts'
import { pathOf, PLANTED, refusalsOf } from './support/refusals.ts'
import type { Refusal } from './support/refusals.ts'
import { wholeApp } from './support/whole.ts'

const db = await sharedDb()
const tenant = await testTenant(db)
const app = wholeApp(db, null)

async function ask(route: Route, refusal: Refusal): Promise<Response> {
  return await app.request(`${refusal.path ?? pathOf(route)}${refusal.search ?? ''}`, {
    method: route.method,
    headers: headersOf(route, refusal),
    ...bodyOf(route, refusal),
  })
}

/** What the route asks for, but for what the refusal changes; empty stands for absent. */
function headersOf(route: Route, refusal: Refusal): Record<string, string> {
  const headers = {
    authorization: `Bearer ${route.access === 'bootstrap' ? TEST_BOOTSTRAP_TOKEN : tenant.key}`,
    'if-match': route.ifMatch ? `"${route.ifMatch}-1"` : '',
    'idempotency-key': route.idempotencyKey === 'required' ? crypto.randomUUID() : '',
    ...refusal.headers,
  }
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
}

function bodyOf(route: Route, { body = '{}', chunked }: Refusal) {
  if (route.method === 'GET' || route.method === 'DELETE') return {}
  const bytes = Buffer.from(body)
  return { body: chunked ? inPieces(bytes) : bytes, duplex: 'half' as const }
}

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const size = 16 * 1024
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(offset, offset + size))
      offset += size
      if (offset >= bytes.length) controller.close()
    },
  })
}

interface Envelope {
  error: {
    code: string
    message: string
    requestId: string
    details: { errors?: { loc: string; message: string }[] }
  }
}

async function check(route: Route, refusal: Refusal): Promise<void> {
  const response = await ask(route, refusal)
  const text = await response.text()
  const said = `${refusal.name}: ${response.status} ${text.slice(0, 500)}`
  assert.ok(refusal.status.includes(response.status), said)
  assert.ok(!text.includes(`${PLANTED}"`), `echoed: ${said}`)
  const { error } = JSON.parse(text) as Envelope
  assert.ok(refusal.codes.includes(error.code), said)
  assert.equal(error.requestId, response.headers.get('x-request-id'))
  assert.ok(!error.message.startsWith('Cannot find route'), said)
  if (refusal.loc === undefined || error.code === 'not_found') return
  const { loc } = refusal
  const places = (error.details.errors ?? []).map((one) => one.loc)
  assert.ok(
    places.some((place) => `${loc}.`.startsWith(`${place}.`) || place.startsWith(`${loc}.`)),
    `not at ${loc}: ${said}`,
  )
}

async function countEvents(): Promise<number | undefined> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from events
    where tenant_id = ${tenant.ctx.tenantId}`
  return row?.count
}

describe('bad input is refused with a pointer and changes nothing', () => {
  for (const [operationId, route] of Object.entries<Route>(controlPlaneRoutes)) {
    it(operationId, async () => {
      const before = await countEvents()
      for (const refusal of refusalsOf(route, TEST_LIMITS)) await check(route, refusal)
      assert.equal(await countEvents(), before)
    })
  }
})
