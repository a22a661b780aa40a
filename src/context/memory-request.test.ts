import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ContextRequest } from '#contract/context.ts'
import type { z } from 'zod'
import type { Focused } from './focus.ts'
import { memoryRequest, namespacesOf } from './memory-request.ts'

const BUDGET = { defaultTokens: 8000, limitTokens: 16_000 }

const TASK = {
  id: 't1',
  publicId: 'TASK-000001',
  title: 'Fix the build',
  description: 'It fails on Mondays',
  status: 'open',
  priority: 'high' as const,
  workspaceId: 'w1',
  version: 1,
  activeClaimId: null,
}

function focused(changes: Partial<Focused> = {}): Focused {
  return {
    tenantId: 'ten',
    principalId: 'p1',
    harness: {
      protocol: { name: 'control-harness', supportedVersions: ['1', '2'] },
      tenant: { id: 'ten', slug: 's', name: 'n' },
      principal: { id: 'p1', kind: 'agent', displayName: 'A' },
      session: null,
      activeSessions: [],
      activeClaims: [],
      activeRuns: [],
      suspendedRuns: [],
      roles: [],
      capabilities: [],
      skills: [],
      pendingApprovals: [],
      eventCursor: 'ec1_',
      permissions: [],
    },
    runId: null,
    focus: { task: null, artifacts: [] },
    project: null,
    workspace: null,
    reached: null,
    ...changes,
  }
}

const onTask = (changes: Partial<Focused> = {}) =>
  focused({ focus: { task: TASK, artifacts: [] }, ...changes })

function ask(input: z.input<typeof ContextRequest>, about = focused()) {
  return memoryRequest(ContextRequest.parse(input), about, BUDGET)
}

describe('the question to memory', () => {
  it('is about the caller when nothing is in focus, in every workspace and in private', () => {
    const question = ask({})
    assert.equal(question.query, 'current work context')
    assert.deepEqual(question.subject, { type: 'principal', id: 'p1' })
    assert.deepEqual(question.scopes, ['principal:p1'])
    assert.deepEqual(question.allowed_scopes.toSorted(), ['principal:p1', 'workspace:*'])
    assert.deepEqual(namespacesOf('tenant:', focused()), ['tenant:ten'])
  })

  it('sees the workspace in focus and its ancestors and no other', () => {
    const about = onTask({ workspace: { id: 'w3', ancestorIds: ['w2', 'w1'], rootId: 'w1' } })
    const question = ask({}, about)
    assert.deepEqual(question.allowed_scopes.toSorted(), [
      'principal:p1',
      'workspace:w1',
      'workspace:w2',
      'workspace:w3',
    ])
    assert.deepEqual(namespacesOf('tenant:', about), ['tenant:ten', 'tenant:ten:ws:w1'])
    assert.deepEqual(question.scopes, [
      'principal:p1',
      'task:t1',
      'workspace:w3',
      'workspace:w2',
      'workspace:w1',
    ])
  })

  it('names at most ten scopes, the nearest first, and narrows to all ancestors all the same', () => {
    const ancestorIds = Array.from({ length: 20 }, (_, n) => `a${n}`)
    const question = ask(
      {},
      onTask({ runId: 'r1', workspace: { id: 'w', ancestorIds, rootId: 'a19' } }),
    )
    assert.equal(question.scopes.length, 10)
    assert.deepEqual(question.scopes.slice(0, 4), [
      'principal:p1',
      'run:r1',
      'task:t1',
      'workspace:w',
    ])
    assert.equal(question.allowed_scopes.length, 22)
  })

  it('takes the task in focus for a query when none is given, at most 2000 long', () => {
    assert.equal(ask({}, onTask()).query, 'Fix the build\n\nIt fails on Mondays')
    assert.equal(ask({ query: '   ' }, onTask()).query, 'Fix the build\n\nIt fails on Mondays')
    assert.equal(ask({ query: 'mine' }, onTask()).query, 'mine')
    const task = { ...TASK, title: 'x'.repeat(1997), description: '🐘'.repeat(10) }
    const { query } = ask({}, focused({ focus: { task, artifacts: [] } }))
    assert.equal(query.length, 1999)
    assert.ok(query.isWellFormed())
  })

  it('starts the search at what was asked for, then at what is in focus, each once, at most ten', () => {
    const anchors = ['service:pay', 'task:t1', 'a:1', 'a:2', 'a:3', 'a:4', 'a:5', 'a:6', 'a:7']
    assert.deepEqual(ask({ anchors }, onTask({ runId: 'r1' })).anchors, [
      ...anchors,
      'principal:p1',
    ])
    assert.deepEqual(ask({}, onTask({ runId: 'r1' })).anchors, [
      'principal:p1',
      'run:r1',
      'task:t1',
    ])
  })

  it('keeps the budget within the limit of the server', () => {
    assert.equal(ask({}).max_tokens, 8000)
    assert.equal(ask({ maxTokens: 1_000_000 }).max_tokens, 16_000)
    assert.equal(ask({ maxTokens: 1 }).max_tokens, 1)
  })

  it('sends strategy and moment only when they were given, and no query for a briefing', () => {
    const plain = ask({})
    assert.ok(!('strategy' in plain) && !('as_of' in plain))
    const asOf = '2026-01-02T03:04:05+03:00'
    const asked = ask({ strategy: 'briefing', asOf, query: 'ignored' }, onTask())
    assert.equal(asked.strategy, 'briefing')
    assert.equal(asked.as_of, asOf)
    assert.equal(asked.query, '')
  })

  it('tells what is true now: claims, runs, approvals, the task and its artifacts, nothing else', () => {
    assert.deepEqual(Object.keys(ask({}, onTask()).ephemeral_context), [
      'activeClaims',
      'activeRuns',
      'suspendedRuns',
      'pendingApprovals',
      'task',
      'artifacts',
    ])
    assert.ok(!('task' in ask({}).ephemeral_context))
  })
})
