import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { newTask } from '../../test/support/leases.ts'
import { selectLatestArtifacts } from './artifact.sql.ts'
import { createArtifact } from './create-artifact.ts'

const db = await sharedDb()

describe('selectLatestArtifacts', () => {
  it('gives the newest artifacts of a task', async () => {
    const { ctx } = await testTenant(db)
    const task = await newTask(db, ctx)
    for (const [age, name] of ['c', 'b', 'a'].entries()) {
      const { id } = await transaction(db, 'read write', (sql) =>
        createArtifact(sql, ctx, { type: 'note', name, metadata: {}, taskId: task.id }),
      )
      await db`
        update artifacts
        set created_at = created_at - make_interval(mins => ${age})
        where tenant_id = ${ctx.tenantId}
          and id = ${id}`
    }

    const latest = await selectLatestArtifacts(db, ctx, { taskId: task.id, limit: 2 })

    assert.deepEqual(
      latest.map((artifact) => artifact.name),
      ['c', 'b'],
    )
  })
})
