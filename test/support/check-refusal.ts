import assert from 'node:assert/strict'
import type { Route } from '#contract/route.ts'
import { pathOf, PLANTED } from './refusals.ts'
import type { Refusal } from './refusals.ts'

/** An HTTP API that is asked for refusals. */
export interface Refuser {
  fetch: (path: string, init: RequestInit) => Promise<Response>
  tokenFor: (route: Route) => string
  /** Reads the API's own envelope. */
  readError: (body: unknown) => RefusedError
}

export interface RefusedError {
  code: string
  message: string
  requestId: string
  errors: { loc: string; message: string }[]
}

async function ask(api: Refuser, route: Route, refusal: Refusal): Promise<Response> {
  return await api.fetch(`${refusal.path ?? pathOf(route)}${refusal.search ?? ''}`, {
    method: route.method,
    headers: headersOf(api.tokenFor(route), route, refusal),
    ...bodyOf(route, refusal),
  })
}

/** What the route asks for, but for what the refusal changes; empty stands for absent. */
function headersOf(token: string, route: Route, refusal: Refusal): Record<string, string> {
  const headers = {
    authorization: `Bearer ${token}`,
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

/**
 * Sends the bad request and checks the refusal: status and code, a pointer to the fault, nothing of the
 * refused value, the id of the request.
 */
export async function checkRefusal(api: Refuser, route: Route, refusal: Refusal): Promise<void> {
  const response = await ask(api, route, refusal)
  const text = await response.text()
  const said = `${refusal.name}: ${response.status} ${text.slice(0, 500)}`
  assert.ok(refusal.status.includes(response.status), said)
  assert.ok(!text.includes(`${PLANTED}"`), `echoed: ${said}`)
  const error = api.readError(JSON.parse(text) as unknown)
  assert.ok(refusal.codes.includes(error.code), said)
  assert.equal(error.requestId, response.headers.get('x-request-id'))
  assert.ok(!error.message.startsWith('Cannot find route'), said)
  if (refusal.loc === undefined || error.code === 'not_found') return
  const { loc } = refusal
  const places = error.errors.map((one) => one.loc)
  assert.ok(
    places.some((place) => `${loc}.`.startsWith(`${place}.`) || place.startsWith(`${loc}.`)),
    `not at ${loc}: ${said}`,
  )
}
