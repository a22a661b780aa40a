import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audienceFor, isVisible, narrowed, privateScopes } from './visibility.ts'

const sees = (scopes: string[], allowed: string[] | null) => isVisible(scopes, audienceFor(allowed))

describe('visibility', () => {
  it('is decided by workspaces, not by the author', () => {
    const decision = ['task:1', 'workspace:w', 'principal:a']
    assert.equal(sees(decision, ['workspace:w', 'principal:b']), true)
    assert.equal(sees(decision, ['workspace:sibling', 'principal:c']), false)
    assert.equal(sees(decision, ['workspace:sibling', 'principal:a']), false)
  })

  it('shows what belongs to no workspace to everybody, what is private to its owner', () => {
    assert.equal(sees(['task:1'], []), true)
    assert.equal(sees(['principal:a'], ['principal:a']), true)
    assert.equal(sees(['principal:a'], ['principal:b', 'workspace:*']), false)
  })

  it('hides every workspace and private item from an empty list and nothing without a list', () => {
    assert.equal(sees(['workspace:w'], []), false)
    assert.equal(sees(['workspace:w'], null), true)
    assert.equal(sees(['workspace:w'], ['workspace:*']), true)
  })

  it('makes a private item leave its workspace', () => {
    const scopes = privateScopes(['task:1', 'workspace:w'], 'a')
    assert.deepEqual(scopes, ['task:1', 'principal:a'])
    assert.equal(sees(scopes, ['workspace:w', 'principal:b']), false)
  })

  it('only narrows', () => {
    const server = audienceFor(['workspace:*', 'principal:a'])
    const reader = narrowed(server, audienceFor(['workspace:w', 'principal:b']))
    assert.equal(isVisible(['workspace:w'], reader), true)
    assert.equal(isVisible(['workspace:other'], reader), false)
    assert.equal(isVisible(['principal:b'], reader), false)
    assert.equal(isVisible(['principal:a'], reader), false)
  })
})
