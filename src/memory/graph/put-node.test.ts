import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Namespace } from '../store/write.ts'
import { EVERYTHING, audienceFor } from '../visibility.ts'
import { emptyGraph, versionsOf } from './graph.ts'
import type { Graph } from './graph.ts'
import type { NodeWrite } from './node-state.ts'
import { putNode } from './put-node.ts'

function namespace(): Namespace {
  let item = 0
  return {
    name: 'test',
    id: '1',
    version: 1,
    now: at(1000),
    nextItem: () => (item += 1),
    changed: () => {},
    learn: () => {},
    touch: () => {},
  }
}

function at(minute: number): string {
  return `${new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString().slice(0, 19)}.000000Z`
}

function say(minute: number, changes: Partial<NodeWrite> = {}): NodeWrite {
  return {
    key: 'service:a',
    kind: 'service',
    kindGiven: true,
    title: undefined,
    properties: {},
    aliases: [],
    scopes: [],
    at: at(minute),
    isSighting: true,
    ...changes,
  }
}

function told(...writes: NodeWrite[]): Graph {
  const graph = emptyGraph(namespace())
  for (const write of writes) putNode(graph, write, EVERYTHING)
  return graph
}

/** What a graph says of an entity at a moment. */
function stateAt(graph: Graph, minute: number) {
  const found = versionsOf(graph, 'service:a').filter(
    ({ row }) => row.validFrom <= at(minute) && (row.validTo === null || row.validTo > at(minute)),
  )
  assert.ok(found.length <= 1, 'two versions hold at once')
  const row = found[0]?.row
  return row && { title: row.title, properties: row.properties, aliases: row.aliases.toSorted() }
}

/** The same by the plainest means: everything said up to then, in the order of time. */
function naive(writes: readonly NodeWrite[], minute: number) {
  const past = writes.filter((one) => one.at <= at(minute))
  if (past.length === 0) return undefined
  const properties: Record<string, unknown> = {}
  let title = 'service:a'
  for (const one of past.toSorted((a, b) => (a.at < b.at ? -1 : 1))) {
    title = one.title ?? title
    Object.assign(properties, one.properties)
  }
  const kept = Object.entries(properties).filter(([, value]) => value !== null)
  const aliases = [...new Set(past.flatMap((one) => one.aliases))].toSorted()
  return { title, properties: Object.fromEntries(kept), aliases }
}

const value = fc.constantFrom(1, 2, null)
const write = fc.record({
  title: fc.constantFrom(undefined, undefined, 'A', 'B'),
  properties: fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 2 }),
  aliases: fc.subarray(['one', 'two']),
})
/** Up to six writes at different minutes, in any order of arrival. */
const history = fc.array(write, { minLength: 1, maxLength: 6 }).chain((writes) =>
  fc
    .shuffledSubarray([10, 20, 30, 40, 50, 60], {
      minLength: writes.length,
      maxLength: writes.length,
    })
    .map((minutes) => writes.map((one, index) => say(minutes[index] ?? 0, one))),
)

describe('what is said about an entity', () => {
  it('holds at every moment whatever the order in which it was told', () => {
    fc.assert(
      fc.property(history, (writes) => {
        const graph = told(...writes)
        for (const minute of [5, 10, 15, 25, 35, 45, 55, 60, 99]) {
          assert.deepEqual(stateAt(graph, minute), naive(writes, minute), `minute ${minute}`)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('adds no version when it says nothing new', () => {
    const graph = told(
      say(10, { properties: { x: 1 } }),
      say(20, { properties: { x: 1 } }),
      say(30),
    )
    assert.equal(versionsOf(graph, 'service:a').length, 1)
    assert.equal(versionsOf(graph, 'service:a')[0]?.row.lastSeen, at(30))
  })

  it('is refused about what the writer cannot see', () => {
    const graph = told(say(10, { scopes: ['workspace:a'] }))
    assert.throws(
      () => putNode(graph, say(20, { scopes: ['workspace:b'] }), audienceFor(['workspace:b'])),
      { code: 'permission_denied' },
    )
  })

  it('keeps what all see for all, and joins audiences of what some see', () => {
    const open = told(say(10), say(20, { scopes: ['workspace:a'], properties: { x: 1 } }))
    assert.deepEqual(versionsOf(open, 'service:a').at(-1)?.row.scopes, [])
    const joined = told(
      say(10, { scopes: ['workspace:a', 'task:1'] }),
      say(20, { scopes: ['workspace:b'], properties: { x: 1 } }),
    )
    assert.deepEqual(versionsOf(joined, 'service:a').at(-1)?.row.scopes, [
      'workspace:a',
      'workspace:b',
      'task:1',
    ])
  })

  it('in private neither reaches what others see nor comes into the open with it', () => {
    const secret = { scopes: ['principal:p'], properties: { secret: true } }
    const shared = told(say(10, { properties: { x: 1 } }), say(20, secret), say(5, secret))
    assert.deepEqual(stateAt(shared, 99)?.properties, { x: 1 })
    const opened = told(say(10, secret), say(20, { properties: { x: 1 } }))
    assert.deepEqual(stateAt(opened, 99)?.properties, { x: 1 })
    assert.deepEqual(versionsOf(opened, 'service:a').at(-1)?.row.scopes, [])
  })

  it('warns when more see the entity than the observation', () => {
    const graph = told(say(10))
    const { warning } = putNode(
      graph,
      say(20, { scopes: ['workspace:a'], properties: { x: 1 } }),
      EVERYTHING,
    )
    assert.match(warning ?? '', /seen by more/)
  })
})
