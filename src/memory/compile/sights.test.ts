import assert from 'node:assert/strict'
import { env } from 'node:process'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { TypedPack } from '#contract/memory-typed.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity, fact, recalling } from '../../../test/support/recalling.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { audienceFor, isVisible } from '../visibility.ts'

const db = await sharedMemoryDb()
const RUNS = Number(env['TEST_RUNS'] ?? 3)

const SCOPES = ['workspace:a', 'workspace:b', 'principal:p', 'principal:q', 'task:1', 'topic:x']
const someScopes = fc.uniqueArray(fc.constantFrom(...SCOPES), { maxLength: 3 })
const allowed = fc.uniqueArray(fc.constantFrom(...SCOPES.slice(0, 4), 'workspace:*'), {
  maxLength: 3,
})

/** Words that stand in one item each, so that any trace of an item in an answer shows. */
const wordOf = (index: number) => `zyx${String.fromCharCode(97 + index)}qv`

async function told(items: readonly string[][]) {
  const memory = recalling(db)
  const scope = { namespace: memory.namespace }
  const ids = await memory.tell(
    ...items.map((scopes, index) => {
      const word = wordOf(index)
      return {
        content: `A finding about ${word}`,
        scopes,
        assertions: [
          entity(`thing:${word}`, `Thing ${word}`, { type: 'thing', aliases: [`alias-${word}`] }),
          fact('hub:1', 'HOLDS', `thing:${word}`),
          { assert: 'text', text: { title: 'Text', content: `A finding on paper: ${word}` } },
        ],
      }
    }),
  )
  return { ...memory, scope, ids }
}

/** Every surface that reads, asked so that it would show everything. */
const SURFACES: Readonly<Record<string, object>> = {
  '/api/memory/context': {
    query: 'finding thing text',
    anchors: ['hub:1'],
    k: 100,
    max_tokens: 100_000,
  },
  '/api/memory/context/typed': {
    anchors: [{ value: 'hub:1' }],
    traverse: [{ relation: 'HOLDS', limit: 200 }],
  },
  '/api/brain/query': { query: 'finding thing text hub:1', k: 50, hops: 2 },
  '/api/brain/recall': { query: 'finding thing text hub:1', budget: 'high', hops: 2 },
  '/api/brain/search': { query: 'finding thing text', k: 200 },
  '/api/memory/entities:query': { kinds: ['thing'] },
}
const LISTING = { filters: { type: 'thing', limit: 200 } }
/** Surfaces whose answers are whole: what is visible has to be there. */
const WHOLE = new Set(['/api/memory/context/typed', '/api/memory/entities:query', 'listing'])

describe('B18: every read surface against a naive filter', () => {
  it('shows nothing of what the reader may not see, and all that it may', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someScopes, { minLength: 4, maxLength: 8 }),
        allowed,
        async (items, reader) => {
          const memory = await told(items)
          const visible = items.map((scopes) => isVisible(scopes, audienceFor(reader)))
          for (const [path, body] of [...Object.entries(SURFACES), ['listing', LISTING] as const]) {
            const route = path === 'listing' ? '/api/brain/search' : path
            const ask = { scope: memory.scope, allowed_scopes: reader, ...body }
            const answer = await memory.post(route, ask)
            assert.equal(answer.status, 200, path)
            checkWords(JSON.stringify(answer.body), visible, path)
            if (path === '/api/memory/context') await checkTrace(memory, answer.body, visible)
          }
          await checkNames(memory, { visible, reader })
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})

function checkWords(text: string, visible: readonly boolean[], path: string): void {
  for (const [index, isSeen] of visible.entries()) {
    const isThere = text.includes(wordOf(index))
    assert.ok(isSeen || !isThere, `${path} shows ${wordOf(index)}`)
    if (WHOLE.has(path)) assert.equal(isThere, isSeen, `${path} lacks ${wordOf(index)}`)
  }
}

type Told = Awaited<ReturnType<typeof told>>

async function checkTrace(memory: Told, pack: { trace_id: string }, visible: readonly boolean[]) {
  const path = `/api/memory/context/trace/${pack.trace_id}?namespace=${memory.namespace}`
  await waitFor(async () => (await memory.get(path)).status === 200)
  const text = JSON.stringify((await memory.get(path)).body)
  checkWords(text, visible, 'the trace')
  for (const [index, id] of memory.ids.entries()) {
    assert.ok(visible[index] === true || !text.includes(id), `the trace names ${id}`)
  }
}

/** Asking for something by its name tells no more than that there is nothing. */
async function checkNames(
  memory: Told,
  { visible, reader }: { visible: readonly boolean[]; reader: readonly string[] },
): Promise<void> {
  const ask = (path: string, body: object) =>
    memory.post(path, { scope: memory.scope, allowed_scopes: reader, ...body })
  const absent = await ask('/api/memory/context/typed', { anchors: [{ value: 'alias-none' }] })
  for (const [index, isSeen] of visible.entries()) {
    const { body } = await ask('/api/memory/diagnose', { id: memory.ids[index], query: 'finding' })
    assert.equal(body.diagnosis === 'unknown', !isSeen)
    const named = await ask('/api/memory/context/typed', {
      anchors: [{ value: `alias-${wordOf(index)}` }],
    })
    assert.equal(named.body.anchors[0].matchedBy, isSeen ? 'alias' : null)
    if (!isSeen) assert.deepEqual(plain(named.body), plain(absent.body))
  }
}

/** What of an answer does not differ from one question to the next. */
function plain({ sections, facts, used, sources, warnings, anchors, unresolved }: TypedPack) {
  const counts = { anchors: anchors.length, unresolved: unresolved.length }
  return { sections, facts, used, sources, warnings, ...counts }
}
