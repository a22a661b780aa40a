import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { connectGit } from '#connectors/git/connect-git.ts'
import { realClock } from '#connectors/target.ts'
import {
  getKnowledgePacks,
  putKnowledgePacks,
  registerKnowledgePack,
} from '#contract/knowledge-packs.ts'
import { reconcileSnapshot } from '#contract/knowledge.ts'
import type { NamespaceKinds } from '#contract/memory-packs.ts'
import { registerShippedPacks } from '#memory/packs/register-pack.ts'
import { contextRoutes } from '#context/routes.ts'
import { createMetrics } from '#observe/metrics.ts'
import { contextMeter } from '../../src/meters.ts'
import { testApp, testClient } from '../support/client.ts'
import { addWorkspace, contextClient, contextTenant, providerAt } from '../support/context.ts'
import { sharedDb, sharedMemoryDb } from '../support/db.ts'
import { gitAt, testRepository } from '../support/git-repository.ts'
import { testMemory } from '../support/memory.ts'
import { own, shopPack } from '../support/packs.ts'

const db = await sharedDb()
const memoryDb = await sharedMemoryDb()
const memory = testMemory(memoryDb)
const provider = providerAt('http://memory.test', { fetch: memory.fetch, timeoutSeconds: 20 })
const SHIPPED = ['software-delivery@1.0.0', 'work-tracking@1.0.0', 'wiki@1.0.0']
await registerShippedPacks(memoryDb)

async function company() {
  const tenant = await contextTenant(db, provider)
  return { ...tenant, root: await addWorkspace(db, tenant.ctx) }
}

describe('the packs that come with the service', () => {
  it('stand beside each other without conflict, and may be registered again', async () => {
    const { client, root } = await company()
    await registerShippedPacks(memoryDb)
    const body = { packs: SHIPPED, strict: true }
    const answer = await call(client, putKnowledgePacks, { params: { id: root }, body })
    const { catalog, settings } = answer as NamespaceKinds
    assert.deepEqual(settings, { strict: true, packages: SHIPPED })
    assert.deepEqual(catalog.conflicts, [])
    const kinds = catalog.kinds.map(({ kind }) => kind)
    for (const kind of ['repository', 'file', 'symbol', 'endpoint', 'service', 'commit', 'change'])
      assert.ok(kinds.includes(kind), kind)
    for (const kind of ['test', 'incident', 'decision', 'task', 'iteration', 'page'])
      assert.ok(kinds.includes(kind), kind)
    assert.deepEqual(await call(client, getKnowledgePacks, { params: { id: root } }), answer)
  })

  it('hold all that a git repository becomes', async (t) => {
    const { client, root } = await company()
    const body = { packs: SHIPPED.slice(0, 1), strict: true }
    await call(client, putKnowledgePacks, { params: { id: root }, body })
    const repository = testRepository(t)
    repository.write('README.md', '# The app\n')
    repository.write('src/a.ts', 'export const a = 1\n')
    repository.commit('Start')
    repository.write('src/b.ts', 'export const a = 1\nexport const b = 2\n')
    repository.commit('Go on')
    const signal = AbortSignal.timeout(60_000)
    const target = {
      client,
      workspaceId: root,
      signal,
      clock: realClock,
      pack: 'software-delivery',
    }
    const options = {
      name: 'acme/app',
      withEmails: true,
      maxCommits: 100,
      replace: false,
      dryRun: false,
    }
    const source = gitAt(repository.path)
    const report = await connectGit(source, target, options)
    assert.ok(report.items.opened > 6)
    assert.deepEqual([report.items.pending, report.warnings], [0, []])
    const again = await connectGit(source, target, options)
    assert.equal(again.upToDate, true)
  })
})

describe('choosing packs', () => {
  it('is for the root of a tree, by whoever manages workspaces, in versions that stay', async () => {
    const { client, root, ctx, caller } = await company()
    const part = await addWorkspace(db, ctx, root)
    const choose = (id: string, packs: string[], by = client) =>
      call(by, putKnowledgePacks, { params: { id }, body: { packs } })
    await assert.rejects(choose(part, SHIPPED), { code: 'workspace_not_root' })
    await assert.rejects(choose(root, ['wiki']), { code: 'pack_version_required' })
    await assert.rejects(choose(root, [`${own('none')}@1`]), { code: 'pack_not_found' })
    const reader = contextClient(db, (await caller(['workspaces.read'])).key, provider)
    await assert.rejects(choose(root, SHIPPED, reader), { code: 'permission_denied' })
    const seen = await call(reader, getKnowledgePacks, { params: { id: part } })
    assert.deepEqual((seen as NamespaceKinds).settings.packages, null)
  })

  it('makes memory refuse what they do not declare, by kind and key', async () => {
    const { client, root } = await company()
    await call(client, putKnowledgePacks, {
      params: { id: root },
      body: { packs: SHIPPED, strict: true },
    })
    const snapshot = {
      workspaceId: root,
      source: 'cmdb',
      scope: 'all',
      snapshotId: '1',
      observedAt: '2026-01-15T10:00:00Z',
      entities: [{ kind: 'spaceship', key: 'spaceship:1', attributes: { secret: 'SESAME' } }],
      relations: [],
    }
    await assert.rejects(call(client, reconcileSnapshot, { body: snapshot }), {
      code: 'snapshot_invalid',
      details: {
        items: [{ loc: 'body.entities.0.kind', kind: 'spaceship', key: 'spaceship:1' }],
        status: 422,
      },
    })
  })
})

describe('registering a pack', () => {
  it('for the tenant needs the permission, and serves the tenant alone', async () => {
    const { client, root, caller } = await company()
    const { manifest } = shopPack()
    const body = { ...manifest, scope: 'tenant' as const }
    const answer = await call(client, registerKnowledgePack, { body })
    assert.equal(answer['ref'], `tenant:${manifest.name}@1.0`)
    await call(client, registerKnowledgePack, { body })
    await assert.rejects(call(client, registerKnowledgePack, { body: { ...body, kinds: [] } }), {
      code: 'pack_version_conflict',
    })
    const ref = `tenant:${manifest.name}@1.0`
    await call(client, putKnowledgePacks, { params: { id: root }, body: { packs: [ref] } })
    const other = await company()
    const choice = { params: { id: other.root }, body: { packs: [ref] } }
    await assert.rejects(call(other.client, putKnowledgePacks, choice), { code: 'pack_not_found' })
    const reader = contextClient(db, (await caller(['observations.write'])).key, provider)
    await assert.rejects(call(reader, registerKnowledgePack, { body }), {
      code: 'permission_denied',
    })
  })

  it('for everybody is left to those who are named', async () => {
    const { client, key, ctx } = await company()
    const { manifest } = shopPack()
    await assert.rejects(call(client, registerKnowledgePack, { body: manifest }), {
      code: 'permission_denied',
    })
    const metrics = contextMeter(createMetrics())
    const packAdmins = [ctx.actorId]
    const app = testApp(db, (hono, deps) =>
      contextRoutes(hono, deps, { provider, metrics, packAdmins }),
    )
    const named = testClient(app, key)
    const answer = await call(named, registerKnowledgePack, { body: manifest })
    assert.equal(answer['ref'], `${manifest.name}@1.0`)
    for (const change of [{ name: 'No name' }, { version: '' }, { kinds: [{}] }]) {
      const body = { ...manifest, ...change } as typeof manifest
      await assert.rejects(call(named, registerKnowledgePack, { body }), { code: 'pack_invalid' })
    }
    const faulty = { ...manifest, version: '2', kinds: [{ kind: 'a', idPatterns: ['('] }] }
    await assert.rejects(call(named, registerKnowledgePack, { body: faulty }), {
      code: 'pack_invalid',
      details: { items: [{ loc: 'body.kinds.0.idPatterns.0' }], status: 422 },
    })
  })
})
