import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { audienceFor, audienceOf, isVisible } from '../visibility.ts'
import { visibleTo } from './reader.sql.ts'

const db = await sharedMemoryDb()

const scope = fc.constantFrom(
  'workspace:a',
  'workspace:b',
  'workspace:*',
  'principal:p',
  'principal:q',
  'task:1',
  'session:workspace:a',
)
const scopes = fc.array(scope, { maxLength: 4 })

describe('the visibility rule', () => {
  it('is the same in SQL and in code', async () => {
    await fc.assert(
      fc.asyncProperty(scopes, fc.option(scopes), async (item, allowed) => {
        const reader = audienceFor(allowed)
        const [row] = await db<{ audience: string[]; visible: boolean }[]>`
          select audience, ${visibleTo(db, reader)} as visible
          from (select audience_of(${item}::text[]) as audience) as item`
        assert.deepEqual(row?.audience, audienceOf(item))
        assert.equal(row?.visible, isVisible(item, reader))
      }),
      { numRuns: 300 },
    )
  })
})
