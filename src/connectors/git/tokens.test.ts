import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { pathText } from './path-text.ts'
import { splitTokens } from './tokens.ts'

describe('splitTokens', () => {
  it('gives the same tokens however the output is cut into chunks', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(fc.nat(40)), (bytes, cuts) => {
        const output = Buffer.concat([Buffer.from(bytes), Buffer.from([0])])
        const splitter = splitTokens(1000)
        const tokens: string[] = []
        let start = 0
        for (const length of [...cuts, output.length]) {
          const chunk = output.subarray(start, start + length)
          tokens.push(...splitter.push(chunk).map((token) => token.toString('latin1')))
          start += length
        }
        assert.deepEqual(tokens, output.toString('latin1').split('\0').slice(0, -1))
      }),
    )
  })

  it('cuts a token that is too long and goes on behind it', () => {
    const splitter = splitTokens(4)
    const tokens = ['abc', 'defgh', 'i\0jk\0'].flatMap((text) => splitter.push(Buffer.from(text)))
    assert.deepEqual(tokens.map(String), ['abcd', 'jk'])
  })
})

describe('pathText', () => {
  it('gives different texts for different names, without control characters', () => {
    const bytes = fc.uint8Array({ minLength: 1 })
    const text = fc.string({ unit: 'binary', minLength: 1 }).map((name) => Buffer.from(name))
    const name = fc.oneof(bytes, text).filter((candidate) => !candidate.includes(0))
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [one, other] = [pathText(Buffer.from(a)), pathText(Buffer.from(b))]
        assert.equal(one === other, Buffer.from(a).equals(Buffer.from(b)))
        assert.doesNotMatch(one, /[\p{Cc}\u2028\u2029]/u)
        assert.ok(one.isWellFormed())
      }),
    )
  })
})
