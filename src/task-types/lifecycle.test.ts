import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Lifecycle } from '#contract/task-types.ts'
import { lifecycleProblems, requireTransition, transitionsFrom } from './lifecycle.ts'

const REVIEWED: Lifecycle = {
  statuses: [
    { key: 'ready', category: 'open' },
    { key: 'doing', category: 'active' },
    { key: 'review', category: 'blocked' },
    { key: 'done', category: 'terminal_success' },
    { key: 'dropped', category: 'terminal_cancelled' },
  ],
  transitions: [
    { from: 'ready', to: 'dropped' },
    { from: 'doing', to: 'review' },
    { from: 'review', to: 'ready' },
    { from: 'review', to: 'done' },
    { from: 'dropped', to: 'ready' },
  ],
  initialStatus: 'ready',
  claimStatus: 'doing',
  releaseStatus: 'ready',
  completionStatus: 'done',
}

describe('a lifecycle', () => {
  it('leads only where it declares, and into success only by completing', () => {
    const task = { id: '1', status: 'review', lifecycle: REVIEWED }
    assert.deepEqual(transitionsFrom(REVIEWED, 'review'), [
      { status: 'ready', systemStatusCategory: 'open', by: 'update' },
      { status: 'done', systemStatusCategory: 'terminal_success', by: 'complete' },
    ])
    requireTransition(task, 'ready', 'update')
    requireTransition(task, 'done', 'complete')
    const refused = { code: 'invalid_transition' }
    assert.throws(() => requireTransition(task, 'done', 'update'), refused)
    assert.throws(() => requireTransition(task, 'ready', 'complete'), refused)
    assert.throws(() => requireTransition(task, 'dropped', 'update'), refused)
    assert.throws(() => requireTransition({ ...task, status: 'done' }, 'ready', 'update'), refused)
  })

  it('that works has no problems', () => {
    assert.deepEqual(lifecycleProblems(REVIEWED), [])
    assert.deepEqual(lifecycleProblems({ ...REVIEWED, claimStatus: null }), [])
  })

  const { statuses, transitions } = REVIEWED
  const broken: [string, Partial<Lifecycle>, string][] = [
    [
      'a status twice',
      { statuses: [...statuses, { key: 'done', category: 'open' }] },
      'statuses.5.key',
    ],
    ['an initialStatus that is not there', { initialStatus: 'new' }, 'initialStatus'],
    ['an initialStatus at the end', { initialStatus: 'dropped' }, 'initialStatus'],
    ['a claimStatus that is no work', { claimStatus: 'review' }, 'claimStatus'],
    ['a releaseStatus that nobody could claim', { releaseStatus: 'doing' }, 'releaseStatus'],
    ['a completionStatus that is no success', { completionStatus: 'dropped' }, 'completionStatus'],
    [
      'a transition from nowhere',
      { transitions: [...transitions, { from: 'x', to: 'done' }] },
      'transitions.5',
    ],
    [
      'a transition to itself',
      { transitions: [...transitions, { from: 'ready', to: 'ready' }] },
      'transitions.5',
    ],
    [
      'a transition twice',
      { transitions: [...transitions, { from: 'ready', to: 'dropped' }] },
      'transitions.5',
    ],
    [
      'a way out of success',
      { transitions: [...transitions, { from: 'done', to: 'ready' }] },
      'transitions.5',
    ],
    [
      'a second way into success',
      {
        statuses: [...statuses, { key: 'shipped', category: 'terminal_success' }],
        transitions: [...transitions, { from: 'review', to: 'shipped' }],
      },
      'transitions.5',
    ],
    [
      'no way into success',
      { transitions: transitions.filter(({ to }) => to !== 'done') },
      'transitions',
    ],
  ]
  for (const [name, change, place] of broken) {
    it(`with ${name} is refused at ${place}`, () => {
      const problems = lifecycleProblems({ ...REVIEWED, ...change })
      assert.ok(
        problems.some(({ path }) => path.join('.') === place),
        JSON.stringify(problems),
      )
    })
  }
})
