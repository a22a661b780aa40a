import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { claimTask, releaseClaim } from '#contract/claims.ts'
import { getContext } from '#contract/context.ts'
import { recordObservation } from '#contract/observations.ts'
import type { Permission } from '#contract/permissions.ts'
import { failRun, startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { contextBudget } from '../../src/prompt/context-budget.ts'
import { renderContext } from '../../src/prompt/render-context.ts'
import { NONCE } from '../support/rendered.ts'
import { wholeStrata } from '../support/strata.ts'

const AGENT: Permission[] = [
  'sessions.open',
  'tasks.read',
  'tasks.claim',
  'events.read',
  'observations.write',
]
const DECISION = 'The nightly export stays on the old queue until the new one keeps order'
const RUNS = 50

describe('a decision among fifty attempts', () => {
  it('is in the pack and in the rendered prompt, at the budgets nobody set', async (t) => {
    const { tenant, clientOf, deliver } = await wholeStrata(t)
    const { client: admin, caller } = await tenant()
    const title = 'Move the nightly export to the new queue'
    const { publicId: ref } = await call(admin, createTask, { body: { title } })
    const ada = clientOf((await caller(AGENT)).key)
    const session = await call(ada, openSession, { body: { clientName: 'test' } })
    const claim = await call(ada, claimTask, { params: { ref }, body: { sessionId: session.id } })
    const { id: claimId, fencingToken } = claim
    await call(ada, recordObservation, {
      body: { kind: 'decision', content: DECISION, task: ref },
    })
    for (let attempt = 1; attempt <= RUNS; attempt += 1) {
      const body = { claimId, fencingToken }
      const run = await call(ada, startRun, { params: { ref }, body })
      const reason = 'The nightly export lost its order on the queue'
      await call(ada, failRun, { params: { id: run.id }, body: { reason } })
    }
    await call(ada, releaseClaim, { params: { id: claimId }, body: { fencingToken } })
    await deliver()

    const boris = clientOf((await caller(AGENT)).key)
    const context = await call(boris, getContext, { body: { task: ref } })

    const sections = context.memory?.['sections'] as {
      kind: string
      items: { text: string; type?: string }[]
    }[]
    const decisions = sections.flatMap(({ items }) => items).filter(({ text }) => text === DECISION)
    assert.equal(decisions.length, 1)
    const episodes = sections.find(({ kind }) => kind === 'episodes')?.items ?? []
    assert.ok(episodes.length <= 1, JSON.stringify(episodes))
    const rendered = renderContext(context, { budgetChars: contextBudget(undefined), nonce: NONCE })
    const [, fenced = ''] = /<recalled_memory>([^]*)<\/recalled_memory>/.exec(rendered) ?? []
    const lines = fenced.split('\n').filter((line) => line.includes(DECISION))
    assert.equal(lines.length, 1, rendered)
    assert.match(lines[0] ?? '', /\[source: control-plane:\/\/events\/[0-9a-f-]{36}\]/)
  })
})
