import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Assertion, Observation } from '#contract/memory-observation.ts'
import { Manifest } from '#contract/memory-packs.ts'
import { ReconcileBody } from '#contract/memory-reconcile.ts'
import { toSnakeCase } from './wire.ts'

describe('toSnakeCase', () => {
  it('renames the fields that the contract names, at every depth', () => {
    assert.deepEqual(toSnakeCase(Observation, { occurredAt: 'x', source: { externalId: 'e' } }), {
      occurred_at: 'x',
      source: { external_id: 'e' },
    })
    assert.deepEqual(
      toSnakeCase(Assertion, { assert: 'fact', fact: { validFrom: 'x', supersedes: 'f' } }),
      { assert: 'fact', fact: { valid_from: 'x', supersedes: 'f' } },
    )
    assert.deepEqual(
      toSnakeCase(ReconcileBody, { snapshotId: 's', entities: [{ sourcePath: 'p' }] }),
      { snapshot_id: 's', entities: [{ source_path: 'p' }] },
    )
  })

  it('does so too where the contract spells otherwise', () => {
    assert.deepEqual(
      toSnakeCase(Manifest, { kinds: [{ kind: 'a', natural_key: 'a:<b>', id_patterns: [] }] }),
      { kinds: [{ kind: 'a', naturalKey: 'a:<b>', idPatterns: [] }] },
    )
  })

  it("leaves a caller's own data alone", () => {
    const own = {
      data: { occurredAt: 1, validFrom: { sourcePath: 2 } },
      provenance: { externalId: 'x' },
    }
    assert.deepEqual(toSnakeCase(Observation, own), own)
    const entity = { assert: 'entity', entity: { key: 'a', properties: { validFrom: 1 } } }
    assert.deepEqual(toSnakeCase(Assertion, entity), entity)
  })

  it('does not choose between two spellings of one field', () => {
    const both = { occurredAt: 'a', occurred_at: 'b' }
    assert.deepEqual(toSnakeCase(Observation, both), both)
    assert.equal(Observation.safeParse({ kind: 'note', content: 'x', ...both }).success, false)
  })

  it('keeps keys that look like parts of an object', () => {
    const value: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')
    assert.deepEqual(Object.keys(toSnakeCase(Observation, value) as object), [
      '__proto__',
      'constructor',
    ])
  })
})
