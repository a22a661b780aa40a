import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { STATUS } from '#http/errors.ts'
import { ANYWHERE, codesOf } from '#http/openapi.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { sharedDb } from '../support/db.ts'
import { wholeApp } from '../support/whole.ts'
import { ERROR_CASES } from './all.ts'
import { newScene } from './scene.ts'

const db = await sharedDb()
const app = wholeApp(db, null)

/** Refusals that pass by themselves say when to try again. */
const PASSING: readonly ErrorCode[] = [
  'rate_limited',
  'idempotency_in_flight',
  'not_ready',
  'invocation_already_claimed',
  'invocation_not_due',
]

describe('every code of a refusal', () => {
  for (const [name, make] of Object.entries(ERROR_CASES)) {
    const code = name as keyof typeof ERROR_CASES
    it(name, async (t) => {
      const { route, response } = await make(await newScene(t, db, app))
      const text = await response.text()
      const { error } = JSON.parse(text) as { error: Record<string, unknown> }
      assert.equal(error['code'], code, text)
      assert.equal(response.status, STATUS[code])
      assert.deepEqual(Object.keys(error), ['code', 'message', 'details', 'requestId'])
      assert.match(String(error['message']), /^(Cannot |Something went wrong)/)
      assert.equal(error['requestId'], response.headers.get('x-request-id'))
      const documented = new Set<ErrorCode>([...codesOf(route), ...ANYWHERE])
      assert.ok(documented.has(code), `${route.method} ${route.path} does not name ${code}`)
      if (PASSING.includes(code)) assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
    })
  }
})
