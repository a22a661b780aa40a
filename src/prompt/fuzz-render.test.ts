import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fuzzRender } from '../../test/support/fuzz-render.ts'

describe('the rendered section under 2,000 hostile mutations', () => {
  it('never leaves the fence, never outgrows its budget, never shows a secret', () => {
    assert.equal(fuzzRender({ count: 2000, seed: 1 }), undefined)
  })
})
