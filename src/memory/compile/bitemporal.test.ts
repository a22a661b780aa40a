import assert from 'node:assert/strict'
import { env } from 'node:process'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { SearchHit } from '#contract/memory-context.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity, fact, recalling } from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()
const RUNS = Number(env['TEST_RUNS'] ?? 4)
const KEY = 'service:pay'
/** Known by its facts alone: it is there as soon as one of them is. */
const WHOLE = 'whole:1'

const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString()
const someDay = fc.integer({ min: 1, max: 28 })

/** One delivery: a message, perhaps in the place of an earlier one, a fact, and a state of an entity. */
const Write = fc.record({
  at: someDay,
  replaces: fc.option(fc.nat({ max: 20 })),
  from: fc.option(someDay),
  lasts: fc.option(fc.integer({ min: 1, max: 10 })),
})
type Write = typeof Write extends fc.Arbitrary<infer T> ? T : never

/** Which message each write replaces: one before it that nothing has replaced yet. */
function replacedBy(writes: readonly Write[]): (number | undefined)[] {
  const taken = new Set<number>()
  return writes.map(({ replaces }, index) => {
    if (replaces === null || index === 0) return undefined
    const target = replaces % index
    if (taken.has(target)) return undefined
    taken.add(target)
    return target
  })
}

/** The naive model: everything written, filtered by both clocks. `known` is how many writes are known. */
function model(writes: readonly Write[], asOf: number, known: number) {
  const replaces = replacedBy(writes)
  const told = writes.slice(0, known)
  const messages = told.flatMap(({ at }, index) => {
    const by = replaces.indexOf(index)
    const end = by === -1 || by >= known ? Infinity : Math.max(at, told[by]?.at ?? Infinity)
    return at <= asOf && asOf < end ? [`message ${index}`] : []
  })
  const facts = told.flatMap(({ at, from, lasts }, index) => {
    const start = from ?? at
    const end = lasts === null ? Infinity : start + lasts
    return start <= asOf && asOf < end ? [`part:${index}`] : []
  })
  const states = told
    .map(({ at }, index) => ({ at, index }))
    .filter(({ at }) => at <= asOf)
    .toSorted((a, b) => a.at - b.at || a.index - b.index)
  return { messages, facts, state: states.at(-1)?.index }
}

async function write(memory: ReturnType<typeof recalling>, writes: readonly Write[]) {
  const replaces = replacedBy(writes)
  const ids: string[] = []
  const moments: string[] = []
  for (const [index, { at, from, lasts }] of writes.entries()) {
    const target = replaces[index]
    const [id = ''] = await memory.tell({
      content: `message ${index}`,
      at: day(at),
      ...(target !== undefined && { data: { supersedes: ids[target] } }),
    })
    ids.push(id)
    // Facts and states have evidence of their own, which nothing replaces.
    await memory.tell({
      content: '',
      data: { evidence: index },
      at: day(at),
      assertions: [
        fact(WHOLE, 'HAS', `part:${index}`, {
          ...(from !== null && { valid_from: day(from) }),
          ...(lasts !== null && { valid_to: day((from ?? at) + lasts) }),
        }),
        entity(KEY, 'Pay', { properties: { state: index } }),
      ],
    })
    const [row] = await db<{ now: string }[]>`
      select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`
    moments.push(row?.now ?? '')
  }
  return moments
}

describe('B2: both clocks against a naive model', () => {
  it('every read shows exactly what was true then as it was known then', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(Write, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(someDay, fc.nat({ max: 5 })), { minLength: 3, maxLength: 3 }),
        async (writes, questions) => {
          const memory = recalling(db)
          const moments = await write(memory, writes)
          for (const [asOf, place] of questions) {
            const known = (place % writes.length) + 1
            const wanted = model(writes, asOf, known)
            const then = { as_of: day(asOf), known_at: moments[known - 1] }
            assert.deepEqual(await read(memory, then), wanted, JSON.stringify({ asOf, known }))
          }
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})

async function read(memory: ReturnType<typeof recalling>, then: object) {
  const scope = { namespace: memory.namespace }
  const search = { k: 200, kinds: ['observation'], ...then }
  const hits: SearchHit[] = await memory.search('message', search)
  const { body: typed } = await memory.post('/api/memory/context/typed', {
    scope,
    anchors: [{ value: KEY }, { value: WHOLE }],
    traverse: [{ relation: 'HAS', limit: 200 }],
    ...then,
  })
  const { body: listed } = await memory.post('/api/memory/entities:query', {
    scope,
    kinds: ['service'],
    ...then,
  })
  const pack = await memory.ask('message', { k: 100, max_tokens: 100_000, ...then })
  const messages = hits.map(({ text }) => text).toSorted()
  const inPack = pack.sections.flatMap(({ items }) => items.map(({ text }) => text))
  assert.deepEqual(
    inPack.filter((text) => text.startsWith('message')).toSorted(),
    messages,
    'the pack and the search differ',
  )
  const state = listed.items[0]?.attributes.state
  const entities: { key: string; attributes: { state?: number } }[] = typed.sections.flatMap(
    ({ items }: { items: object[] }) => items,
  )
  assert.equal(entities.find(({ key }) => key === KEY)?.attributes.state, state)
  const facts: { object: { key: string } }[] = typed.facts
  return {
    messages: messages.toSorted(byNumber),
    facts: facts.map(({ object }) => object.key).toSorted(byNumber),
    state,
  }
}

function byNumber(a: string, b: string): number {
  return Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0])
}
