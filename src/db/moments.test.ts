import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

describe('a moment given to the database', () => {
  it('keeps its microseconds when it is text, and its milliseconds when it is a date', async () => {
    const given = {
      text: '2026-01-15T10:00:00.123456Z',
      date: new Date('2026-01-15T10:00:00.789Z'),
    }
    const [row] = await db<{ text: string; date: string; day: string }[]>`
      select to_char(${given.text}::timestamptz at time zone 'UTC', 'HH24:MI:SS.US') as text,
             to_char(${given.date}::timestamptz at time zone 'UTC', 'HH24:MI:SS.US') as date,
             ${'2026-01-15'}::date::text as day`
    assert.deepEqual(
      { ...row },
      {
        text: '10:00:00.123456',
        date: '10:00:00.789000',
        day: '2026-01-15',
      },
    )
  })
})
