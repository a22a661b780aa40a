import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { canonicalJson, MAX_JSON_DEPTH, parseJson } from './json.ts'

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

describe('parseJson', () => {
  it('gives back what JSON.parse gives for everything a database can hold', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const result = parseJson(text)
        if (result.ok) assert.deepEqual(result.value, JSON.parse(text))
        else assert.match(result.problem.message, /NUL|surrogate|exactly|__proto__/)
      }),
    )
  })

  for (const [name, text] of Object.entries({
    'an integer beyond 2^53': '{"a":[9007199254740993]}',
    'a number that becomes infinite': '{"a":[1e400]}',
    'a negative number that becomes infinite': '[-1E400]',
    'a number that vanishes': '[1e-400]',
    'a NUL in a text': '{"a":["\\u0000"]}',
    'a NUL in a key': '{"a\\u0000":1}',
    'a key that JavaScript would drop': '[{"__proto__":{}}]',
    'half of a surrogate pair': '{"a":["\\ud800"]}',
    'text after the value': '{} {}',
    'nothing that is JSON': '{',
    'nesting beyond the limit': nested(MAX_JSON_DEPTH + 1),
    'nesting that would overflow a stack': nested(1_000_000),
  })) {
    it(`refuses ${name}`, () => assert.equal(parseJson(text).ok, false))
  }

  it('points at the fault', () => {
    const result = parseJson('{"a":[{"b":"\\u0000"}]}')
    assert.deepEqual(result.ok ? [] : result.problem.path, ['a', 0, 'b'])
  })

  for (const text of [
    nested(MAX_JSON_DEPTH),
    '"[[[[\\"[[[["',
    '9007199254740991',
    '-9007199254740991',
    '1.7976931348623157e308',
    '0e5',
    '0.1234567890123456789',
    '"\\ud83d\\ude00 1e400"',
  ]) {
    it(`accepts ${text.slice(0, 40)}`, () => {
      assert.deepEqual(parseJson(text), { ok: true, value: JSON.parse(text) as unknown })
    })
  }
})

describe('canonicalJson', () => {
  it('does not depend on the order of keys, at any depth', () => {
    const one = { b: [{ y: 1, x: 2 }], a: null }
    const two = { a: null, b: [{ x: 2, y: 1 }] }
    assert.equal(canonicalJson(one), canonicalJson(two))
    assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
  })
})
