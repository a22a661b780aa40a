import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownDb } from '../../../test/support/db.ts'
import { file, imports, memorySources } from '../../../test/support/memory-sources.ts'

/** What happens when the snapshot itself is noted, after its entities and relations were written. */
const FAILURES = {
  'is refused by the database': `raise exception 'no room'`,
  'loses its connection': `perform pg_terminate_backend(pg_backend_pid())`,
} as const

describe('a snapshot that fails half way', () => {
  for (const [name, failure] of Object.entries(FAILURES)) {
    it(`changes nothing when it ${name}, and works when it is sent again`, async (t) => {
      const db = await ownDb(t, 'memory')
      const { reconcile, head, rows, ledger } = memorySources(db)
      await reconcile('s1', 1, { entities: [file('a')] })
      const state = async () => [
        await head(),
        await rows('nodes'),
        await rows('edges'),
        await ledger('snapshot_entities'),
        await ledger('snapshot_relations'),
      ]
      const before = await state()
      await db.unsafe(`
        create function fail() returns trigger language plpgsql as $$
        begin ${failure}; return new; end $$`)
      await db`
        create trigger fail
        after insert on snapshots
        for each row execute function fail()`
      const said = { entities: [file('b'), file('c')], relations: [imports('b', 'c')] }
      const broken = await reconcile('s2', 2, said)
      assert.ok(broken.status >= 500, `${broken.status} ${JSON.stringify(broken.body)}`)
      assert.doesNotMatch(JSON.stringify(broken.body), /no room|pg_|terminat/)
      assert.deepEqual(await state(), before)
      await db`drop trigger fail on snapshots`
      const { status, body } = await reconcile('s2', 2, said)
      assert.deepEqual([status, body.opened, body.closed], [200, 3, 1])
    })
  }
})
