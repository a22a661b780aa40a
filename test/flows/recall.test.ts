import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getContext } from '#contract/context.ts'
import type { ContextReply, ContextRequest } from '#contract/context.ts'
import { deleteDocument, storeDocument } from '#contract/knowledge.ts'
import { recordObservation } from '#contract/observations.ts'
import type { NewObservation } from '#contract/observations.ts'
import {
  addTask,
  addWorkspace,
  contextClient,
  contextTenant,
  providerAt,
} from '../support/context.ts'
import { sharedDb, sharedMemoryDb } from '../support/db.ts'
import { deliverTo } from '../support/deliver.ts'
import { testMemory } from '../support/memory.ts'

const db = await sharedDb()
const memory = testMemory(await sharedMemoryDb())
const provider = providerAt('http://memory.test', { fetch: memory.fetch, timeoutSeconds: 20 })

const AGENT = ['tasks.read', 'events.read', 'observations.write', 'artifacts.read'] as const
const DECISION = 'Use the marmot protocol for replication'

/** A tenant with two sibling workspaces, a task in the first, and three agents. */
async function company() {
  const tenant = await contextTenant(db, provider)
  const root = await addWorkspace(db, tenant.ctx)
  const left = await addWorkspace(db, tenant.ctx, root)
  const right = await addWorkspace(db, tenant.ctx, root)
  const below = await addWorkspace(db, tenant.ctx, left)
  const task = await addTask(db, tenant.ctx, { workspaceId: left, title: 'Choose a protocol' })
  const agent = async () => contextClient(db, (await tenant.caller(AGENT)).key, provider)
  return {
    tenant,
    root,
    left,
    right,
    below,
    task,
    author: await agent(),
    other: await agent(),
    deliver: () => deliverTo(memory, db, tenant.ctx),
  }
}

describe('what one agent recorded and another recalls', () => {
  it('is seen where it belongs, whoever wrote it', async () => {
    const { author, other, task, root, left, right, below, deliver } = await company()
    await observe(author, { content: DECISION, task: task.publicId })
    await deliver()
    const sees = async (client: ClientOptions, focus: Partial<ContextRequest>) =>
      shows(await recall(client, { query: 'marmot protocol', ...focus }), DECISION)
    assert.ok(await sees(other, { task: task.id }))
    assert.ok(await sees(other, { workspaceId: left }))
    assert.ok(await sees(other, { workspaceId: below }))
    assert.ok(await sees(other, {}), 'without a focus every workspace is in sight')
    assert.ok(!(await sees(other, { workspaceId: right })))
    assert.ok(!(await sees(author, { workspaceId: right })), 'its author sees it no better')
    assert.ok(!(await sees(other, { workspaceId: root })), 'it was not stamped with an ancestor')
  })

  it('is seen in the whole tenant when it belongs to no workspace', async () => {
    const { author, other, task, right, deliver } = await company()
    await observe(author, { content: DECISION })
    await deliver()
    for (const focus of [{}, { task: task.id }, { workspaceId: right }]) {
      assert.ok(shows(await recall(other, { query: 'marmot', ...focus }), DECISION))
    }
  })

  it('stays with its author when it was declared private', async () => {
    const { author, other, task, deliver } = await company()
    await observe(author, { content: DECISION, task: task.id, data: { visibility: 'private' } })
    await deliver()
    for (const focus of [{}, { task: task.id }]) {
      assert.ok(shows(await recall(author, { query: 'marmot', ...focus }), DECISION))
      assert.ok(!shows(await recall(other, { query: 'marmot', ...focus }), 'marmot'))
    }
  })

  it('is closed by what replaced it, and there again when one asks about before', async () => {
    const { author, other, task, deliver } = await company()
    const body = { task: task.id, observedAt: '2026-01-01T00:00:00Z' }
    const first = await observe(author, { ...body, content: DECISION })
    const later = 'Use the badger protocol for replication instead of anything else'
    await observe(author, {
      ...body,
      content: later,
      observedAt: '2026-02-01T00:00:00Z',
      supersedes: first.id,
    })
    await deliver()
    const now = await recall(other, { query: 'protocol for replication', task: task.id })
    assert.ok(shows(now, later))
    assert.ok(!shows(now, DECISION))
    const before = await recall(other, {
      query: 'protocol for replication',
      task: task.id,
      asOf: '2026-01-15T00:00:00Z',
    })
    assert.ok(shows(before, DECISION))
    assert.ok(!shows(before, later))
  })

  it('turns assertions into facts with the validity that was given', async () => {
    const { author, other, task, deliver } = await company()
    await observe(author, {
      content: 'pay runs on postgres',
      task: task.id,
      assertions: [
        { assert: 'entity', entity: { key: 'service:pay', type: 'service', title: 'Pay' } },
        {
          assert: 'fact',
          fact: {
            subject: 'service:pay',
            predicate: 'RUNS_ON',
            object: 'database:postgres',
            validFrom: '2026-01-01T00:00:00Z',
            validTo: '2026-02-01T00:00:00Z',
          },
        },
      ],
      observedAt: '2026-01-01T00:00:00Z',
    })
    await deliver()
    const ask = { query: 'service:pay', anchors: ['service:pay'], task: task.id }
    const during = await recall(other, { ...ask, asOf: '2026-01-15T00:00:00Z' })
    assert.match(sectionText(during, 'relevant_facts'), /RUNS_ON/)
    const after = await recall(other, { ...ask, asOf: '2026-03-01T00:00:00Z' })
    assert.doesNotMatch(sectionText(after, 'relevant_facts'), /RUNS_ON/)
  })

  it('comes with what is true now, which memory does not keep', async () => {
    const { author, other, task, deliver } = await company()
    await observe(author, { content: DECISION, task: task.id })
    await deliver()
    const first = await recall(other, { task: task.id })
    assert.match(sectionText(first, 'current'), /Choose a protocol/)
    assert.match(first.memoryTraceId ?? '', /^ctx-/)
    assert.equal(first.memoryStatus, 'ok')
    assert.deepEqual(first.warnings, [])
  })
})

describe('documents of a workspace', () => {
  it('are recalled there and below, until they are forgotten', async () => {
    const { tenant, other, left, right, below } = await company()
    const document = { workspaceId: left, key: 'doc:runbook' }
    const body = { ...document, title: 'Runbook', content: '# Failover\n\nWake the wombat first.' }
    await call(tenant.client, storeDocument, { body })
    const sees = async (workspaceId: string) =>
      shows(await recall(other, { query: 'failover wombat', workspaceId }), 'wombat')
    assert.deepEqual([await sees(left), await sees(below), await sees(right)], [true, true, false])
    await call(tenant.client, deleteDocument, { body: document })
    assert.equal(await sees(left), false)
  })
})

async function observe(client: ClientOptions, observation: Partial<NewObservation>) {
  const body = { kind: 'decision', content: DECISION, ...observation }
  return await call(client, recordObservation, { body })
}

async function recall(client: ClientOptions, body: Partial<ContextRequest>): Promise<ContextReply> {
  const reply = await call(client, getContext, { body })
  assert.equal(reply.memoryStatus, 'ok', reply.warnings.join())
  return reply
}

/** Looks past the caller's own words, which the answer repeats. */
function shows({ memory: pack }: ContextReply, text: string): boolean {
  return JSON.stringify(pack?.['sections']).includes(text)
}

function sectionText({ memory: pack }: ContextReply, kind: string): string {
  const sections = (pack?.['sections'] ?? []) as { kind: string; items: { text: string }[] }[]
  return sections
    .filter((section) => section.kind === kind)
    .flatMap(({ items }) => items.map(({ text }) => text))
    .join('\n')
}
