import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { childStatus } from './child.ts'
import type { ChildState } from './child.ts'

const NEW: ChildState = {
  revokedAt: null,
  isExpired: false,
  isClaimed: false,
  newestRunStatus: null,
  hasSucceeded: false,
}
const at = new Date(0)

describe('the status of a child', () => {
  const cases: [string, Partial<ChildState>][] = [
    ['pending', {}],
    ['expired', { isExpired: true }],
    ['revoked', { revokedAt: at, isExpired: true }],
    ['claimed', { isClaimed: true, isExpired: true }],
    ['claimed', { isClaimed: true, newestRunStatus: 'failed' }],
    ['running', { isClaimed: true, newestRunStatus: 'running' }],
    ['failed', { newestRunStatus: 'running' }],
    ['failed', { newestRunStatus: 'failed', isExpired: true }],
    ['cancelled', { newestRunStatus: 'cancelled' }],
    ['suspended', { newestRunStatus: 'suspended' }],
    ['expired', { newestRunStatus: 'suspended', isExpired: true }],
    ['succeeded', { hasSucceeded: true, newestRunStatus: 'failed', revokedAt: at }],
  ]
  for (const [status, state] of cases) {
    it(`is ${status} for ${JSON.stringify(state)}`, () => {
      assert.equal(childStatus({ ...NEW, ...state }), status)
    })
  }
})
