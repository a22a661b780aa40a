import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controlPlaneRoutes, memoryRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { checkRefusal } from './support/check-refusal.ts'
import type { RefusedError, Refuser } from './support/check-refusal.ts'
import { TEST_BOOTSTRAP_TOKEN, TEST_LIMITS } from './support/client.ts'
import { testTenant } from './support/ctx.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'
import { testMemory } from './support/memory.ts'
import { refusalsOf } from './support/refusals.ts'
import { wholeApp } from './support/whole.ts'

const db = await sharedDb()
const tenant = await testTenant(db)
const app = wholeApp(db, null)

const controlPlane: Refuser = {
  fetch: async (path, init) => await app.request(path, init),
  tokenFor: ({ access }) => (access === 'bootstrap' ? TEST_BOOTSTRAP_TOKEN : tenant.key),
  readError: (body) => {
    const { error } = body as { error: RefusedError & { details: Partial<RefusedError> } }
    return { ...error, errors: error.details.errors ?? [] }
  },
}

const MEMORY_KEY = 'memory-key-of-the-tests'
const memoryService = testMemory(await sharedMemoryDb(), {
  serverApiKey: MEMORY_KEY,
  maxBodyBytes: TEST_LIMITS.defaultBytes,
  maxKnowledgeBytes: TEST_LIMITS.knowledgeBytes,
})
const memoryRefuser: Refuser = {
  fetch: (path, init) => memoryService.fetch(new URL(path, 'http://memory.test'), init),
  tokenFor: () => MEMORY_KEY,
  readError: (body) => {
    const { detail, request_id, code, errors } = body as Record<
      'detail' | 'request_id' | 'code',
      string
    > &
      Partial<RefusedError>
    return { code, message: detail, requestId: request_id, errors: errors ?? [] }
  },
}

async function countEvents(): Promise<number | undefined> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from events
    where tenant_id = ${tenant.ctx.tenantId}`
  return row?.count
}

describe('bad input to the control plane is refused with a pointer and changes nothing', () => {
  for (const [operationId, route] of Object.entries<Route>(controlPlaneRoutes)) {
    it(operationId, async () => {
      const before = await countEvents()
      for (const refusal of refusalsOf(route, TEST_LIMITS))
        await checkRefusal(controlPlane, route, refusal)
      assert.equal(await countEvents(), before)
    })
  }
})

describe('bad input to memory is refused with a pointer', () => {
  for (const [operationId, route] of Object.entries<Route>(memoryRoutes)) {
    it(operationId, async () => {
      for (const refusal of refusalsOf(route, TEST_LIMITS)) {
        await checkRefusal(memoryRefuser, route, refusal)
      }
    })
  }
})
