import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { tablesHolding } from '../../../test/support/memory-leaks.ts'

describe('an erasure that dies half way', () => {
  it('removes nothing, and everything when it is asked for again', async (t) => {
    const db = await ownDb(t, 'memory')
    const { namespace, post, delete: remove } = testMemory(db)
    const scope = { namespace }
    const { body } = await post('/api/memory/observations', {
      scope,
      kind: 'note',
      content: 'The zanzibar plan',
      assertions: [
        { assert: 'text', text: { content: 'A zanzibar note' } },
        { assert: 'fact', fact: { subject: 'plan:a', predicate: 'IS', object: 'plan:zanzibar' } },
      ],
    })
    const holding = () => tablesHolding(db, namespace, 'zanzibar')
    const before = await holding()
    assert.deepEqual(before, ['chunks', 'edges', 'nodes', 'observations', 'vocabulary'])
    await db.unsafe(`
      create function fail() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`)
    // The last thing an erasure does but one.
    await db`
      create trigger fail
      before insert on tombstones
      for each row execute function fail()`
    const path = `/api/memory/observations/${body.observation_id}?namespace=${namespace}&mode=purge`
    const broken = await remove(path)
    assert.ok(broken.status >= 500, JSON.stringify(broken.body))
    assert.deepEqual(await holding(), before)
    await db`drop trigger fail on tombstones`
    assert.equal((await remove(path)).status, 200)
    assert.deepEqual(await holding(), [])
  })
})
