import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { migrate } from '#db/migrate.ts'
import { emptyDb, migrationsOf } from '../../test/support/db.ts'

describe('an installation that had tasks before there were types', () => {
  it('gives every tenant the default type, and its tasks with it, which ask for nobody in particular', async (t) => {
    const empty = await emptyDb(t)
    const folder = await mkdtemp(join(tmpdir(), 'strata-migrations-'))
    t.after(() => rm(folder, { recursive: true }))
    const all = migrationsOf('control-plane')
    for (const name of readdirSync(all).filter((file) => file < '0010')) {
      await cp(join(all, name), join(folder, name))
    }
    await migrate(empty, folder)
    const [tenantId, personId, taskId] = [1, 2, 3].map(() => crypto.randomUUID())
    await empty`
      insert into tenants (tenant_id, slug, name)
      values (${tenantId ?? ''}, 'old', 'Old')`
    await empty`
      insert into principals (tenant_id, id, kind, display_name)
      values (${tenantId ?? ''}, ${personId ?? ''}, 'human', 'Ann')`
    await empty`
      insert into tasks
        (tenant_id, id, number, title, status, status_category, priority, created_by)
      values
        (${tenantId ?? ''}, ${taskId ?? ''}, 1, 'Old', 'open', 'open', 'low', ${personId ?? ''})`

    await migrate(empty, all)

    const rows = await empty`
      select k.key, k.version, t.title, t.requirements, t.revision
      from tasks t
      join task_types k
        on k.tenant_id = t.tenant_id and k.key = t.type_key and k.version = t.type_version`
    const requirements = { roles: [], capabilities: [], skills: [] }
    assert.deepEqual(
      [...rows],
      [{ key: 'default', version: 1, title: 'Old', requirements, revision: 1 }],
    )
    await assert.rejects(
      empty`
        update task_types
        set display_name = 'Other'`,
      /never change/,
    )
  })
})
