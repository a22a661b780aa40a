import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call, send } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { getContext } from '#contract/context.ts'
import { queryEntities, storeDocument } from '#contract/knowledge.ts'
import { recordObservation } from '#contract/observations.ts'
import { getMe } from '#contract/org.ts'
import { startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { wholeStrata } from '../support/strata.ts'
import type { Whole } from '../support/strata.ts'
import { uuidsIn } from '../support/world.ts'

interface Place {
  root: string
  middle: string
  leaf: string
  beside: string
  otherRoot: string
  task: string
  nowhere: string
  run: string
}

interface Inhabitant {
  tenantId: string
  principalId: string
  place: Place
  client: Awaited<ReturnType<Whole['tenant']>>['client']
  caller: Awaited<ReturnType<Whole['tenant']>>['caller']
}

/** A tenant with two trees, a task and its run deep in one of them, and something said everywhere. */
async function inhabitant(whole: Whole): Promise<Inhabitant> {
  const { client, caller } = await whole.tenant()
  const { tenant, principal } = await call(client, getMe, {})
  const add = async (slug: string, parentId: string | null = null) =>
    (await call(client, createWorkspace, { body: { slug, name: slug, parentId } })).id
  const root = await add('root')
  const middle = await add('middle', root)
  const leaf = await add('leaf', middle)
  const beside = await add('beside', root)
  const otherRoot = await add('other')
  const addTask = async (workspaceId?: string) =>
    (await call(client, createTask, { body: { title: 'Walk the fence', workspaceId } })).id
  const [task, nowhere] = [await addTask(leaf), await addTask()]
  const { id: sessionId } = await call(client, openSession, { body: { clientName: 'test' } })
  const { id: claimId, fencingToken } = await call(client, claimTask, {
    params: { ref: task },
    body: { sessionId },
  })
  const body = { claimId, fencingToken }
  const { id: run } = await call(client, startRun, { params: { ref: task }, body })
  for (const workspaceId of [root, middle, leaf, beside, otherRoot]) {
    const said = { kind: 'note', content: 'Walk it twice', workspaceId }
    await call(client, recordObservation, { body: said })
  }
  const place = { root, middle, leaf, beside, otherRoot, task, nowhere, run }
  return { tenantId: tenant.id, principalId: principal.id, place, client, caller }
}

interface Asked {
  scope: { namespaces?: string[]; namespace?: string }
  scopes: string[]
  allowed_scopes: string[]
}

/** The questions among what was recorded from `from` on. */
function questions(whole: Whole, from: number): Asked[] {
  return whole.exchanges
    .slice(from)
    .filter(({ path }) => path === '/api/memory/context')
    .map(({ body }) => body as Asked)
}

async function twoTenants(t: TestContext) {
  const whole = await wholeStrata(t)
  const ours = await inhabitant(whole)
  const theirs = await inhabitant(whole)
  await whole.deliver()
  return { whole, ours, theirs }
}

describe('what memory is asked on behalf of a caller', () => {
  it('names only what the caller has a right to, whatever the focus', async (t) => {
    const { whole, ours, theirs } = await twoTenants(t)
    const { tenantId, principalId, place } = ours
    const { root, middle, leaf, task, nowhere, run } = place
    const me = `principal:${principalId}`
    const line = [leaf, middle, root].map((id) => `workspace:${id}`)
    const tree = [`tenant:${tenantId}`, `tenant:${tenantId}:ws:${root}`]
    const cases = [
      { focus: {}, namespaces: tree.slice(0, 1), scopes: [me], allowed: [me, 'workspace:*'] },
      {
        focus: { task: nowhere },
        namespaces: tree.slice(0, 1),
        scopes: [me, `task:${nowhere}`],
        allowed: [me, 'workspace:*'],
      },
      { focus: { task }, namespaces: tree, scopes: [me, `task:${task}`, ...line] },
      {
        focus: { runId: run },
        namespaces: tree,
        scopes: [me, `run:${run}`, `task:${task}`, ...line],
      },
      { focus: { workspaceId: leaf }, namespaces: tree, scopes: [me, ...line] },
      { focus: { workspaceId: root }, namespaces: tree, scopes: [me, `workspace:${root}`] },
      { focus: { task, strategy: 'briefing' as const }, namespaces: tree },
      { focus: { task, anchors: [`workspace:${place.otherRoot}`] }, namespaces: tree },
      { focus: { task, anchors: [`workspace:${theirs.place.leaf}`] }, namespaces: tree },
    ]
    for (const { focus, namespaces, ...known } of cases) {
      const scopes = known.scopes ?? [me, `task:${task}`, ...line]
      const allowed =
        known.allowed ?? scopes.filter((scope) => /^(workspace|principal):/.test(scope))
      const from = whole.exchanges.length
      const reply = await call(ours.client, getContext, { body: { query: 'fence', ...focus } })
      assert.equal(reply.memoryStatus, 'ok')
      const [asked, ...more] = questions(whole, from)
      assert.equal(more.length, 0)
      const name = JSON.stringify(focus)
      assert.deepEqual(asked?.scope, { namespaces }, name)
      assert.deepEqual(asked?.scopes.toSorted(), scopes.toSorted(), name)
      assert.deepEqual(asked?.allowed_scopes.toSorted(), allowed.toSorted(), name)
    }
  })

  it('names nothing of another tenant, in a question or in an answer', async (t) => {
    const { whole, ours, theirs } = await twoTenants(t)
    const from = whole.exchanges.length
    const { place } = ours
    const bodies = [{}, { task: place.task }, { runId: place.run }, { workspaceId: place.beside }]
    for (const focus of bodies) {
      await call(ours.client, getContext, { body: { query: 'walk it twice', ...focus } })
    }
    const document = { workspaceId: place.leaf, key: 'doc:fence', content: 'Oak and wire' }
    await call(ours.client, storeDocument, { body: document })
    const wanted = { workspaceId: place.beside, kinds: ['document'] }
    await send(ours.client, queryEntities, { body: wanted })
    const calls = whole.exchanges.slice(from)
    assert.ok(calls.length >= 5)
    const text = JSON.stringify(calls)
    const known = [theirs.tenantId, theirs.principalId, ...Object.values(theirs.place)]
    const named = new Set(uuidsIn(text))
    assert.ok(named.has(ours.tenantId))
    assert.deepEqual(
      known.filter((id) => named.has(id)),
      [],
    )
    for (const namespace of text.matchAll(/"(tenant:[^"\\]*)/g)) {
      assert.match(namespace[1] ?? '', new RegExp(`^tenant:${ours.tenantId}(:ws:|$)`))
    }
  })

  it('is nothing at all where the caller may not look', async (t) => {
    const { whole, ours, theirs } = await twoTenants(t)
    const { caller, place } = ours
    const blind = whole.clientOf((await caller(['tasks.read'])).key)
    const narrow = whole.clientOf((await caller(['events.read'])).key)
    const from = whole.exchanges.length

    const reply = await call(blind, getContext, { body: { task: place.task } })
    assert.equal(reply.memoryStatus, 'forbidden')
    const outcomes = [
      await send(narrow, getContext, { body: { task: place.task } }),
      await send(narrow, getContext, { body: { runId: place.run } }),
      await send(ours.client, getContext, { body: { task: theirs.place.task } }),
      await send(ours.client, getContext, { body: { runId: theirs.place.run } }),
      await send(ours.client, getContext, { body: { workspaceId: theirs.place.leaf } }),
      await send(ours.client, storeDocument, {
        body: { workspaceId: theirs.place.leaf, key: 'doc:x', content: 'other' },
      }),
    ]
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [403, 403, 404, 404, 404, 404],
    )
    assert.equal(whole.exchanges.length, from)
  })
})
