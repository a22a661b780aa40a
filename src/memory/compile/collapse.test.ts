import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FactTriple, Item, Ranked } from '../recall/item.ts'
import { fillBudget, fitCurrent } from './budget.ts'
import { collapse } from './collapse.ts'
import { conflictsOf } from './conflicts.ts'
import { countTokens } from './tokens.ts'

const asOf = new Date('2024-06-01T00:00:00Z')

function item(id: string, changes: Partial<Item> = {}): Item {
  return {
    key: id,
    namespace: 'n',
    kind: 'observation',
    id,
    text: id,
    title: null,
    scopes: [],
    at: null,
    closedAt: null,
    supersededBy: null,
    type: 'note',
    author: null,
    about: [],
    nodeKey: null,
    chunkOrder: null,
    sourcePath: null,
    source: null,
    provenance: {},
    fact: null,
    ...changes,
  }
}
const ranking = (...items: Item[]): Ranked[] =>
  items.map((one, i) => ({ item: one, score: 1 - i / 100, signals: {} }))

function words(n: number): string {
  return 'word '.repeat(n).trim()
}

function fact(id: string, object: string, changes: Partial<FactTriple & Item> = {}): Item {
  const { validFrom = null, validTo = null, supersededBy = null } = changes
  return item(id, {
    kind: 'fact',
    supersededBy,
    fact: {
      subject: 'service:a',
      predicate: 'LIMIT',
      object,
      validFrom,
      validTo,
      evidence: 'asserted',
      confidence: 1,
    },
  })
}

describe('collapse', () => {
  it('keeps a decision among fifty lifecycle events and one of these per task', () => {
    const runs = Array.from({ length: 50 }, (_, i) =>
      item(`obs-run${i}`, { type: 'run.started', text: `run ${i}`, scopes: ['task:1'] }),
    )
    const other = item('obs-other', { type: 'task.claimed', scopes: ['task:2'] })
    const decision = item('obs-decision', { type: 'decision', scopes: ['task:1'] })
    const { kept, dropped } = collapse(ranking(...runs, other, decision), asOf)
    assert.deepEqual(
      kept.map(({ item: { id } }) => id),
      ['obs-run0', 'obs-other', 'obs-decision'],
    )
    assert.equal(kept[0]?.signals.collapsed, 49)
    assert.equal(dropped[0]?.reason, 'lifecycle of obs-run0')
  })

  it('drops equal texts as duplicates and keeps those that merely look alike', () => {
    const { kept, dropped } = collapse(
      ranking(
        item('a', { text: 'Limit is 100 rps' }),
        item('b', { text: ' limit  is 100 RPS' }),
        item('c', { text: 'Limit is 110 rps' }),
      ),
      asOf,
    )
    assert.deepEqual(
      kept.map(({ item: { id } }) => id),
      ['a', 'c'],
    )
    assert.deepEqual(
      dropped.map(({ id, reason }) => [id, reason]),
      [['b', 'duplicate of a']],
    )
  })

  it('drops what was replaced by then, naming the successor, and keeps it before', () => {
    const old = item('old', { supersededBy: 'new', closedAt: new Date('2024-05-01T00:00:00Z') })
    assert.equal(collapse(ranking(old), asOf).dropped[0]?.reason, 'superseded by new')
    assert.equal(collapse(ranking(old), new Date('2024-04-01T00:00:00Z')).kept.length, 1)
  })
})

describe('conflictsOf', () => {
  const may = new Date('2024-05-01T00:00:00Z')

  it('marks both of two facts that cannot be true together', () => {
    const conflicts = conflictsOf([fact('a', '100'), fact('b', '110'), fact('c', '100')])
    assert.deepEqual(
      [...conflicts],
      [
        ['a', ['b']],
        ['b', ['a', 'c']],
        ['c', ['b']],
      ],
    )
  })

  it('does not mark facts one after the other, nor a fact and its successor', () => {
    assert.equal(
      conflictsOf([fact('a', '1', { validTo: may }), fact('b', '2', { validFrom: may })]).size,
      0,
    )
    assert.equal(conflictsOf([fact('a', '1', { supersededBy: 'b' }), fact('b', '2')]).size, 0)
  })
})

describe('the budget', () => {
  const long = 'A sentence of some words that costs tokens. '.repeat(40)

  it('leaves out what does not fit and still takes smaller items after it', () => {
    const { fitted, dropped } = fillBudget(
      ranking(
        item('a', { text: words(30) }),
        item('b', { text: words(29) }),
        item('c', { text: words(20) }),
        item('d', { text: words(5) }),
      ),
      80,
    )
    assert.deepEqual(
      fitted.map(({ item: { id } }) => id),
      ['a', 'b', 'd'],
    )
    assert.deepEqual(
      dropped.map(({ id, reason }) => [id, reason]),
      [['c', 'budget']],
    )
  })

  it('cuts an oversized item at a sentence and says so', () => {
    const { fitted, truncated } = fillBudget(ranking(item('a', { text: long })), 100)
    assert.equal(truncated, true)
    assert.equal(fitted[0]?.signals.truncated, true)
    assert.match(fitted[0]?.text ?? '', /tokens\.$/)
    assert.ok((fitted[0]?.tokens ?? 99) <= 50)
  })

  it("gives the caller's own state at most a quarter", () => {
    const current = fitCurrent(JSON.stringify({ claims: Array(500).fill('claim') }, null, 2), 400)
    assert.equal(current.truncated, true)
    assert.ok(countTokens(current.text) <= 100 && current.tokens > 50)
  })
})
