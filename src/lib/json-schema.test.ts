import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSchema, createSchemaCache } from './json-schema.ts'
import type { SchemaProblem, Validate } from './json-schema.ts'

function validatorOf(schema: Record<string, unknown>): Validate {
  const compiled = compileSchema(schema)
  assert.ok(compiled.ok)
  return compiled.validate
}

function refusalOf(schema: Record<string, unknown>): SchemaProblem[] {
  const compiled = compileSchema(schema)
  assert.ok(!compiled.ok)
  return compiled.problems
}

describe('a schema', () => {
  it('tells every fault of a value by its place, without the value', () => {
    const validate = validatorOf({
      type: 'object',
      required: ['size'],
      additionalProperties: false,
      properties: {
        size: { enum: ['S', 'M'] },
        'a/b': { type: 'array', items: { type: 'integer', maximum: 3 } },
        due: { type: 'string', format: 'date' },
      },
    })

    assert.deepEqual(validate({ size: 'M', 'a/b': [1, 2], due: '2026-02-28' }), [])
    const problems = validate({ 'a/b': [1, 'sw0rdf1sh', 9], due: '2026-02-31', more: 1 })

    assert.deepEqual(
      problems.map(({ path }) => path),
      [['size'], ['more'], ['a/b', '1'], ['a/b', '2'], ['due']],
    )
    assert.ok(!JSON.stringify(problems).includes('sw0rdf1sh'))
  })

  it('is of draft 2020-12', () => {
    const validate = validatorOf({ prefixItems: [{ type: 'string' }], items: false })
    assert.deepEqual(validate(['a']), [])
    assert.equal(validate(['a', 'b']).length, 1)
    assert.equal(refusalOf({ $schema: 'http://json-schema.org/draft-04/schema#' }).length, 1)
  })

  it('is refused by its place when it is none', () => {
    assert.deepEqual(
      refusalOf({ properties: { a: { type: 'text' } } }).map(({ path }) => path.slice(0, 3))[0],
      ['properties', 'a', 'type'],
    )
    assert.equal(refusalOf({ pattern: '(' }).length, 1)
    assert.equal(refusalOf({ $ref: 'https://example.org/schema.json' }).length, 1)
    assert.equal(refusalOf({ $ref: '#/$defs/absent' }).length, 1)
  })

  it('has words of its own and an id without disturbing another', () => {
    const schema = { $id: 'https://example.org/one', 'x-shown': true, type: 'object' }
    assert.deepEqual(validatorOf(schema)({}), [])
    assert.deepEqual(validatorOf({ ...schema, required: ['a'] })({}).length, 1)
  })
})

describe('a recursive schema', () => {
  it('checks a tree', () => {
    const children = { type: 'array', items: { $ref: '#' } }
    const validate = validatorOf({ type: 'object', required: ['name'], properties: { children } })
    assert.deepEqual(validate({ name: 'a', children: [{ name: 'b', children: [] }] }), [])
    assert.deepEqual(validate({ name: 'a', children: [{ name: 'b', children: [{}] }] })[0]?.path, [
      'children',
      '0',
      'children',
      '0',
      'name',
    ])
  })
})

describe('a schema made to take for ever', () => {
  it('is stopped while a pattern backtracks', () => {
    const validate = validatorOf({ properties: { a: { pattern: '^(a+)+$' } } })
    assert.deepEqual(validate({ a: `${'a'.repeat(50)}!` }), [
      { path: [], message: 'takes too long to check' },
    ])
    assert.deepEqual(validate({ a: 'aaa' }), [])
  })

  it('is refused when it only refers to itself', () => {
    assert.deepEqual(refusalOf({ allOf: [{ $ref: '#' }] }), [
      { path: [], message: 'refers to itself without end' },
    ])
  })

  it('is stopped while its references double', () => {
    const doubled = Array.from({ length: 60 }, (_, level) => {
      const ref = { $ref: `#/$defs/d${level + 1}` }
      return [`d${level}`, { allOf: [ref, ref] }]
    })
    const $defs = { ...Object.fromEntries(doubled), d60: { type: 'string' } }
    const schema = { $defs, properties: { a: { $ref: '#/$defs/d0' } } }
    const compiled = compileSchema(schema)
    const problems = compiled.ok ? compiled.validate({ a: 'x' }) : compiled.problems
    assert.deepEqual(problems, [{ path: [], message: 'takes too long to check' }])
  })
})

describe('a cache of schemas', () => {
  it('makes an equal schema once, and again only after it was pushed out', () => {
    const compile = createSchemaCache(2)
    const first = compile({ type: 'object' })
    assert.equal(compile({ type: 'object' }), first)
    compile({ type: 'string' })
    compile({ type: 'number' })
    assert.notEqual(compile({ type: 'object' }), first)
  })
})
