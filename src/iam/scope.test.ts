import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PERMISSIONS } from '#contract/permissions.ts'
import { withinScopes } from './scope.ts'

const admin = new Set(['admin'])
const within = (scopes: string[], held: ReadonlySet<string> = admin) =>
  withinScopes(new Set(scopes.map((name) => `control-plane:${name}`)), held)

describe('withinScopes', () => {
  it('lets read through what ends in .read, of whatever the binding permits', () => {
    const reads = PERMISSIONS.filter((name) => name.endsWith('.read'))
    assert.deepEqual([...within(['read'])], reads)
    assert.deepEqual([...within(['read'], new Set(['tasks.read', 'tasks.write']))], ['tasks.read'])
  })

  it('lets write through the rest but admin', () => {
    const left = within(['write'])
    assert.ok(left.has('tasks.write') && !left.has('tasks.read') && !left.has('admin'))
    const both = within(['read', 'write'])
    assert.deepEqual(
      [...both],
      PERMISSIONS.filter((name) => name !== 'admin'),
    )
  })

  it('lets admin through what the binding permits, and never more', () => {
    assert.deepEqual([...within(['admin'])], ['admin'])
    assert.deepEqual([...within(['admin'], new Set(['tasks.read']))], ['tasks.read'])
    assert.deepEqual([...within(['read', 'write', 'admin'], new Set([]))], [])
  })

  it('refuses a token without any of the three', () => {
    assert.throws(() => within([]), { code: 'scope_not_granted' })
    assert.throws(() => withinScopes(new Set(['control-plane:other', 'admin']), admin), {
      code: 'scope_not_granted',
    })
  })
})
