import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { memoryTables } from '../../test/support/memory.ts'

const db = await sharedMemoryDb()

const decided = (id: string, day: number, more: object = {}) => ({
  source: { system: 'control-plane', stream: 'domain-events', external_id: `event:${id}` },
  kind: 'decision',
  content: `Decision ${id}`,
  subject: { type: 'observation', id: `o-${id}` },
  occurred_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
  assertions: [
    { assert: 'fact', fact: { subject: 'limit', predicate: 'is', object: id } },
    { assert: 'text', text: { content: `Text of ${id}` } },
  ],
  ...more,
})

const day = (moment: Date | null) => moment?.toISOString().slice(8, 10) ?? 'open'

function decisions() {
  const tables = memoryTables(db)
  const { record, batch, rows } = tables
  return {
    ...tables,
    decide: (id: string, on: number, more: object = {}) => record(decided(id, on, more)),
    decideAll: (list: object[]) => batch(list),
    /** When each observation ends, and everything made from it. */
    ends: async () => {
      const out: Record<string, string> = {}
      for (const row of await rows('observations')) {
        out[row['externalId']] = day(row['validTo'])
      }
      for (const row of await rows('edges')) out[`fact ${row['object']}`] = day(row['validTo'])
      for (const row of await rows('chunks')) out[row['text']] = day(row['validTo'])
      for (const row of await rows('nodes')) {
        if (row['kind'] === 'note') out[`note ${row['title']}`] = day(row['validTo'])
      }
      return out
    },
  }
}

const CLOSED = {
  'event:1': '05',
  'fact 1': '05',
  'Text of 1': '05',
  'note Text of 1': '05',
  'event:2': 'open',
  'fact 2': 'open',
  'Text of 2': 'open',
  'note Text of 2': 'open',
}

describe('an observation that supersedes another', () => {
  for (const [how, name] of [
    ['the id of its subject', 'o-1'],
    ['its external id', 'event:1'],
  ] as const) {
    it(`closes it with all that was made from it, named by ${how}, whichever comes first`, async () => {
      const newer = { data: { supersedes: name } }
      const inOrder = decisions()
      await inOrder.decide('1', 1)
      await inOrder.decide('2', 5, newer)
      const reversed = decisions()
      await reversed.decide('2', 5, newer)
      await reversed.decide('1', 1)
      const together = decisions()
      await together.decideAll([decided('2', 5, newer), decided('1', 1)])
      for (const { ends, rows } of [inOrder, reversed, together]) {
        assert.deepEqual(await ends(), CLOSED)
        const stored = await rows('observations')
        const [old, fresh] = stored.toSorted((a, b) => a['occurredAt'] - b['occurredAt'])
        assert.equal(old?.['supersededBy'], fresh?.['observationId'])
      }
    })
  }

  it('may name it by the id memory gave it', async () => {
    const { decide, ends } = decisions()
    const { body } = await decide('1', 1)
    await decide('2', 5, { data: { supersedes: body.observation_id } })
    assert.equal((await ends())['event:1'], '05')
  })

  it('leaves alone a fact that others saw too', async () => {
    const { decide, ends } = decisions()
    await decide('1', 1)
    await decide('3', 2, {
      assertions: [{ assert: 'fact', fact: { subject: 'limit', predicate: 'is', object: '1' } }],
    })
    await decide('2', 5, { data: { supersedes: 'o-1' } })
    const now = await ends()
    assert.deepEqual([now['event:1'], now['fact 1']], ['05', 'open'])
  })

  it('leaves alone what its writer cannot see, another stream, and itself', async () => {
    const { decide, ends, namespace, post } = decisions()
    await decide('1', 1, { scopes: ['workspace:a'] })
    await post('/api/memory/observations', {
      ...decided('2', 5, { scopes: ['workspace:b'], data: { supersedes: 'o-1' } }),
      namespace,
      allowed_scopes: ['workspace:b'],
    })
    await decide('3', 5, {
      source: { system: 'other', external_id: 'event:3' },
      data: { supersedes: 'event:1' },
    })
    await decide('4', 6, { data: { supersedes: 'o-4' } })
    const now = await ends()
    assert.deepEqual(
      ['event:1', 'event:2', 'event:3', 'event:4'].map((id) => now[id]),
      ['open', 'open', 'open', 'open'],
    )
  })

  it('ends it at the earliest of several successors, never before it began', async () => {
    const { decide, ends } = decisions()
    await decide('1', 10)
    await decide('2', 20, { data: { supersedes: 'o-1' } })
    await decide('3', 15, { data: { supersedes: 'o-1' } })
    assert.equal((await ends())['event:1'], '15')
    await decide('4', 5, { data: { supersedes: 'o-1' } })
    assert.equal((await ends())['event:1'], '10')
  })
})
