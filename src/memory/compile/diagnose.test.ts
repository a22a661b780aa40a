import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { entity, fact, itemsOf, recalling } from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()

function diagnosing() {
  const memory = recalling(db)
  const why = async (id: unknown, query: string, more: object = {}) => {
    const { status, body } = await memory.post('/api/memory/diagnose', {
      scope: { namespace: memory.namespace },
      id,
      query,
      ...more,
    })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { ...memory, why }
}

describe('B9: diagnose tells why something is or is not in an answer', () => {
  it('finds what was returned where it stands', async () => {
    const { tell, why } = diagnosing()
    const [id] = await tell({ content: 'Payments retry three times', kind: 'decision' })
    const told = await why(id, 'payments retry')
    assert.equal(told.diagnosis, 'returned')
    assert.equal(told.rank, 1)
    assert.ok(told.score > 0)
    assert.equal(told.terms.held.length, 2)
    assert.equal(told.validity.valid_from, '2026-01-10T10:00:00Z')
  })

  it('names the words that are missing of what no channel finds', async () => {
    const { tell, why } = diagnosing()
    const [id] = await tell({ content: 'Payments retry three times' })
    const told = await why(id, 'unrelated zebra', { strategy: 'exact' })
    assert.equal(told.diagnosis, 'not found')
    assert.deepEqual(told.terms.held, [])
    assert.equal(told.rank, null)
  })

  it('tells the place of what is below those shown', async () => {
    const { tell, why } = diagnosing()
    const ids = await tell(
      ...Array.from({ length: 60 }, (_, i) => ({
        content: `${'caching '.repeat(i < 59 ? 2 : 1)} note ${i}${' and much else'.repeat(i === 59 ? 9 : 0)}`,
      })),
    )
    const told = await why(ids[59], 'caching', { k: 1, strategy: 'exact' })
    assert.equal(told.diagnosis, 'below rank')
    assert.equal(told.rank, 60)
    assert.ok(told.score < told.last_score)
  })

  it('names the duplicate, the successor and the budget', async () => {
    const { tell, ask, why } = diagnosing()
    const [first, second] = await tell(
      { content: 'Deploy on Monday' },
      { content: 'deploy  on monday' },
    )
    const kept = itemsOf(await ask('deploy monday'))[0]?.id
    const other = kept === first ? second : first
    const duplicate = await why(other, 'deploy monday')
    assert.deepEqual(
      [duplicate.diagnosis, duplicate.explanation],
      ['duplicate', `It was left out: duplicate of ${kept}.`],
    )
    const [old] = await tell({
      content: 'Release trains leave on Friday',
      at: '2026-01-01T00:00:00Z',
    })
    const [next] = await tell({
      content: 'Release trains leave on Tuesday',
      at: '2026-02-01T00:00:00Z',
      data: { supersedes: old },
    })
    const replaced = await why(old, 'release trains')
    assert.equal(replaced.diagnosis, 'superseded')
    assert.match(replaced.explanation, new RegExp(String(next)))
    const [long] = await tell({ content: `Quotas ${'are explained at length '.repeat(40)}` })
    const short = await why(long, 'quotas', { max_tokens: 1 })
    assert.equal(short.diagnosis, 'budget')
  })

  it('tells moments and subjects that do not fit', async () => {
    const { tell, why } = diagnosing()
    const [id] = await tell({
      content: 'Payments retry three times',
      at: '2026-01-10T10:00:00Z',
      scopes: ['task:1'],
    })
    const early = await why(id, 'payments', { as_of: '2026-01-01T00:00:00Z' })
    assert.deepEqual(
      [early.diagnosis, early.explanation],
      ['not true then', 'It holds from 2026-01-10T10:00:00Z.'],
    )
    const unknown = await why(id, 'payments', { known_at: '2020-01-01T00:00:00Z' })
    assert.equal(unknown.diagnosis, 'not known then')
    const elsewhere = await why(id, 'payments', { scopes: ['task:2'] })
    assert.equal(elsewhere.diagnosis, 'about something else')
  })

  it('speaks of chunks, facts and entities alike', async () => {
    const { tell, ask, why } = diagnosing()
    await tell({
      content: 'x',
      assertions: [
        entity('service:pay', 'Payments'),
        fact('service:pay', 'USES', 'database:ledger'),
        { assert: 'text', text: { title: 'Ledger', content: 'The ledger keeps payments' } },
      ],
    })
    const pack = await ask('payments ledger', { anchors: ['service:pay'] })
    const kinds = new Set<string>()
    for (const { id, kind } of itemsOf(pack)) {
      kinds.add(kind)
      const told = await why(id, 'payments ledger', { anchors: ['service:pay'] })
      assert.equal(told.diagnosis, 'returned', id)
    }
    assert.ok(kinds.has('chunk') && kinds.has('fact') && kinds.has('entity'))
  })

  it('B18: answers what may not be seen exactly like what is not there', async () => {
    const { tell, why } = diagnosing()
    const [hidden] = await tell({
      content: 'Payments will be sold',
      scopes: ['workspace:board'],
      assertions: [entity('deal:sale', 'Sale of payments')],
    })
    await tell({ content: 'Payments retry three times' })
    const reader = { allowed_scopes: ['workspace:team'] }
    const absent = 'obs-000000000000000000000000'
    for (const [there, not] of [
      [hidden, absent],
      ['node:deal:sale', 'node:deal:none'],
    ]) {
      const { id: _, ...seen } = await why(there, 'payments', reader)
      const { id: __, ...gone } = await why(not, 'payments', reader)
      assert.deepEqual(seen, gone)
      assert.equal(seen.diagnosis, 'unknown')
    }
    for (const id of ['', 'x'.repeat(601)]) {
      const { status } = await recalling(db).post('/api/memory/diagnose', { id, query: 'x' })
      assert.equal(status, 400)
    }
    for (const id of ['chunk:x', 'chunk:99999999999999999999', 'what', 'fact-', 'node:%_']) {
      assert.equal((await why(id, 'payments')).diagnosis, 'unknown')
    }
  })
})
