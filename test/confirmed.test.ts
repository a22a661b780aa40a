import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, send } from '#client/client.ts'
import { beginArtifactUpload } from '#contract/artifact-uploads.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { storeDocument } from '#contract/knowledge.ts'
import type { Route } from '#contract/route.ts'
import { watchPool } from '#db/pool.ts'
import type { Ctx } from '#lib/ctx.ts'
import { sha256 } from '#lib/id.ts'
import { notActive } from '#org/authenticate.ts'
import { testClient } from './support/client.ts'
import { addWorkspace, providerAt } from './support/context.ts'
import { testTenant } from './support/ctx.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'
import { testMemory } from './support/memory.ts'
import { own } from './support/tenant-call.ts'
import type { TenantCall } from './support/tenant-call.ts'
import { TENANT_CASES } from './support/tenant-cases.ts'
import { wholeApp } from './support/whole.ts'
import { buildWorld } from './support/world.ts'

const ROOT = join(import.meta.dirname, '..')
const BINDINGS = /bind(?:Outside|Transfer)\(\s*app,\s*\w+,\s*(?:\w+\.)?(\w+)/g

/** What the pipeline did for the request under way. */
const seen = { written: 0, confirmed: 0 }
/** Which confirmation of a request finds its caller suspended; 0 for none. */
let suspendedAt = 0

const shared = await sharedDb()
const db = watchPool(shared, {
  acquired: () => {},
  transaction(mode, run) {
    if (mode === 'read write') seen.written += 1
    return run()
  },
})
const memory = testMemory(await sharedMemoryDb())
const provider = providerAt('http://memory.test', { fetch: memory.fetch, timeoutSeconds: 20 })
const app = wholeApp(db, provider, {
  api: {
    confirm(_sql, { actorId: principalId }) {
      seen.confirmed += 1
      if (seen.confirmed !== suspendedAt) return Promise.resolve()
      return Promise.reject(notActive({ principalId, principalStatus: 'suspended' }))
    },
  },
})
const world = await buildWorld(db, app, 5)
const SUSPENDED = 'principal_not_active'

/** Asks once, the caller being suspended at one of the moments at which it is asked for. */
async function ask(route: Route, { input }: TenantCall, at: number) {
  Object.assign(seen, { written: 0, confirmed: 0 })
  suspendedAt = at
  const response = await send(world.client, route, input)
  const text = await response.text()
  suspendedAt = 0
  return response.ok ? 'ok' : (/"code":"(\w+)"/.exec(text)?.[1] ?? text)
}

async function countEvents({ tenantId }: Ctx): Promise<number> {
  const [row] = await shared<{ count: number }[]>`
    select count(*)::int as count
    from events
    where tenant_id = ${tenantId}`
  return row?.count ?? 0
}

/** Suspends the caller at every moment of a request in turn; answers whether the request can write. */
async function walk(route: Route, attempt: TenantCall): Promise<boolean> {
  for (let at = 1; ; at += 1) {
    const before = await countEvents(world.ctx)
    const code = await ask(route, attempt, at)
    if (code !== SUSPENDED) {
      if (code === 'ok') assert.equal(seen.confirmed, seen.written, 'a write is not confirmed')
      return at > 1
    }
    assert.equal(await countEvents(world.ctx), before, 'the journal tells of what was refused')
  }
}

/** What the cases of the other tests cannot get through to the end. */
const MORE: Readonly<Record<string, () => Promise<TenantCall[]>>> = {
  async completeArtifactUpload() {
    const body = { sizeBytes: 0, sha256: sha256('') }
    const { id } = await call(world.client, beginArtifactUpload, { body })
    return [own({ params: { id }, body: {} })]
  },
}

/** Asks another service, or moves bytes: several transactions instead of one around the whole command. */
const OUTSIDE = new Set(
  globSync('src/*/routes.ts', { cwd: ROOT })
    .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(BINDINGS)])
    .map(([, operationId = '']) => operationId),
)
const READS = new Set(['getContext', 'getKnowledgePacks', 'getRunContext', 'queryEntities'])

const writing = Object.entries<Route>(controlPlaneRoutes).filter(
  ([operationId, { method }]) => method !== 'GET' && operationId !== 'bootstrap',
)

describe('a caller that is suspended while its request runs', () => {
  const proven = new Set<string>()
  for (const [operationId, route] of writing) {
    it(`writes nothing through ${operationId}, whatever it has done by then`, async () => {
      const cases = TENANT_CASES[operationId]?.(world.thing, world.thing) ?? []
      for (const attempt of [...cases, ...((await MORE[operationId]?.()) ?? [])]) {
        if (await walk(route, attempt)) proven.add(operationId)
      }
    })
  }

  it('is tried to the end on every route that has several transactions', () => {
    assert.ok(OUTSIDE.size > 7)
    const transfers = writing.filter(([, { transfer }]) => transfer === true)
    for (const operationId of [...OUTSIDE, ...transfers.map(([name]) => name)]) {
      assert.ok(proven.has(operationId) || READS.has(operationId), operationId)
    }
    assert.ok(proven.size > writing.length / 2, 'most routes with one transaction are tried too')
  })
})

describe('a caller that is really suspended while memory is asked', () => {
  it('leaves nothing in the journal, and is told why', async () => {
    const { ctx, key } = await testTenant(shared)
    const workspaceId = await addWorkspace(shared, ctx)
    const slow = wholeApp(shared, {
      ...provider,
      async fetch(input, init) {
        const answer = await memory.fetch(input, init)
        await shared`
          update principals
          set status = 'suspended'
          where tenant_id = ${ctx.tenantId}
            and id = ${ctx.actorId}`
        return answer
      },
    })
    const before = await countEvents(ctx)
    const body = { workspaceId, key: 'late', type: 'note', content: 'late' }
    const response = await send(testClient(slow, key), storeDocument, { body })
    assert.match(await response.text(), /"code":"principal_not_active"/)
    assert.equal(await countEvents(ctx), before)
  })
})
