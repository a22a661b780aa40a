import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { audienceOf } from './visibility.ts'

const db = await sharedMemoryDb()

describe('the audience of an item', () => {
  it('is the same in the database and in code', async () => {
    const scope = fc.constantFrom(
      'workspace:a',
      'workspace:b',
      'principal:p',
      'task:1',
      'workspaces:x',
      'xworkspace:a',
      'principal:workspace:a',
    )
    const lists = fc.sample(fc.array(scope, { maxLength: 5 }), 200)
    const rows = await db<{ audience: string[] }[]>`
      select audience_of(array(select json_array_elements_text(list))) as audience
      from json_array_elements(${JSON.stringify(lists)}::text::json) with ordinality as l (list, place)
      order by place`
    assert.deepEqual(
      rows.map(({ audience }) => audience),
      lists.map((list) => audienceOf(list)),
    )
  })
})
