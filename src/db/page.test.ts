import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '#lib/id.ts'
import { pageOf, pageRequest } from './page.ts'

const row = (at: string) => ({ createdAt: new Date(at), id: newId() })
const encoded = (value: unknown) =>
  `pc1_${Buffer.from(JSON.stringify(value)).toString('base64url')}`

describe('pageOf', () => {
  it('offers a cursor only when there is a row beyond the page', () => {
    const rows = [row('2026-01-03T00:00:00.003Z'), row('2026-01-02T00:00:00.002Z')]
    const first = pageRequest('tasks', { limit: 1 })

    const { items, nextCursor } = pageOf(first, rows, ({ id }) => id)

    assert.deepEqual(items, [rows[0]?.id])
    assert.ok(nextCursor)
    const second = pageRequest('tasks', { limit: 1, cursor: nextCursor })
    assert.deepEqual(second.after, rows[0])
    assert.equal(pageOf(second, rows.slice(1), ({ id }) => id).nextCursor, null)
    assert.equal(pageOf(first, [], ({ id }) => id).nextCursor, null)
  })
})

describe('pageRequest', () => {
  it('refuses what is not a cursor of this listing', () => {
    const [at, id] = ['2026-01-01T00:00:00.000Z', newId()]
    assert.deepEqual(pageRequest('tasks', { limit: 1, cursor: encoded(['tasks', at, id]) }).after, {
      createdAt: new Date(at),
      id,
    })
    for (const cursor of [
      '',
      'pc1_',
      'pc1_!!',
      encoded(null),
      encoded({}),
      encoded(['runs', at, id]),
      encoded(['tasks', at]),
      encoded(['tasks', at, id, 1]),
      encoded(['tasks', at, 'x']),
      encoded(['tasks', at, 5]),
      encoded(['tasks', 'yesterday', id]),
      encoded(['tasks', '0000-01-01T00:00:00.000Z', id]),
      encoded(['tasks', '+200000-01-01T00:00:00.000Z', id]),
      encoded(['tasks', '2026-02-31T00:00:00.000Z\u0000', id]),
      encoded(['tasks', at, id]).replace('pc1_', 'pc2_'),
    ]) {
      assert.throws(() => pageRequest('tasks', { limit: 1, cursor }), { code: 'invalid_cursor' })
    }
  })
})
