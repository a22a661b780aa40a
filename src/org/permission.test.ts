import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { strangerCtx } from './authorize.ts'
import { grantable, requirePermission } from './permission.ts'

function holding(...permissions: string[]) {
  const trace = { requestId: 'r', correlationId: 'c', traceRunId: 't' }
  return { ...strangerCtx(trace), permissions: new Set(permissions) }
}

describe('grantable', () => {
  it('gives what the caller holds, each once, and everything when the caller is admin', () => {
    const wanted = ['tasks.read', 'tasks.claim', 'tasks.read']
    const given = ['tasks.read', 'tasks.claim']

    assert.deepEqual(grantable(holding(...given, 'events.read'), 'agent', wanted), given)
    assert.deepEqual(grantable(holding('admin'), 'service', wanted), given)
    assert.deepEqual(grantable(holding('admin'), 'human', ['admin']), ['admin'])
  })

  it('refuses what the caller lacks and names all of it', () => {
    assert.throws(
      () => grantable(holding('tasks.read'), 'human', ['tasks.read', 'events.read', 'admin']),
      { code: 'permission_escalation', details: { missing: ['admin', 'events.read'] } },
    )
  })

  it('keeps for people what only people may hold, whoever grants it', () => {
    for (const kind of ['agent', 'service'] as const) {
      assert.throws(() => grantable(holding('admin'), kind, ['approvals.decide', 'admin']), {
        code: 'permissions_not_allowed_for_kind',
        details: { kind, permissions: ['admin', 'approvals.decide'] },
      })
    }
    assert.deepEqual(grantable(holding('approvals.decide'), 'human', ['approvals.decide']), [
      'approvals.decide',
    ])
  })

  it('refuses an empty list and unknown names', () => {
    for (const wanted of [[], ['tasks.read', 'tasks.fly'], ['toString'], ['']]) {
      assert.throws(() => grantable(holding('admin'), 'human', wanted), {
        code: 'invalid_permissions',
      })
    }
  })
})

describe('requirePermission', () => {
  it('is satisfied by the permission itself or by admin, and by nothing near it', () => {
    requirePermission(holding('tasks.read'), 'tasks.read')
    requirePermission(holding('admin'), 'tasks.read')
    assert.throws(() => requirePermission(holding('tasks.write', 'tasks'), 'tasks.read'), {
      code: 'permission_denied',
      details: { required: 'tasks.read' },
    })
  })
})
