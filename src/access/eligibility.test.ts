import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { array, assert as check, constantFrom, property, record } from 'fast-check'
import { missingOf } from './eligibility.ts'

const held = {
  roles: [{ id: 'r-1', slug: 'reviewer', name: 'Reviewer' }],
  capabilities: [{ id: 'c-1', name: 'python' }],
  skills: [{ id: 's-1', name: 'deploy' }],
}

describe('missingOf', () => {
  it('finds nothing missing where nothing is asked for', () => {
    assert.deepEqual(missingOf({}, { roles: [], capabilities: [], skills: [] }), [])
  })

  it('takes a name or an id for the same thing, but not the name of another kind', () => {
    assert.deepEqual(missingOf({ roles: ['reviewer'], capabilities: ['c-1'] }, held), [])
    assert.deepEqual(missingOf({ roles: ['python'], skills: ['reviewer'] }, held), [
      { kind: 'role', name: 'python' },
      { kind: 'skill', name: 'reviewer' },
    ])
  })

  it('asks for everything at once, and more never makes eligible', () => {
    const names = array(constantFrom('reviewer', 'python', 'deploy', 'other'))
    const wish = record({ roles: names, capabilities: names, skills: names })
    check(
      property(wish, wish, (a, b) => {
        const both = {
          roles: [...a.roles, ...b.roles],
          capabilities: [...a.capabilities, ...b.capabilities],
          skills: [...a.skills, ...b.skills],
        }
        const parts = missingOf(a, held).length + missingOf(b, held).length
        assert.equal(missingOf(both, held).length, parts)
      }),
    )
  })
})
