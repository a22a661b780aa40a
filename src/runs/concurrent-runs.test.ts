import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import { addTask, startTask } from '../../test/support/context.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { endLease } from '../../test/support/leases.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { instructionsFor } from './instructions.ts'
import { failRun } from './stop-run.ts'

const db = await sharedDb()

const atMost = (maxConcurrentRuns: number) => ({ config: { governance: { maxConcurrentRuns } } })

async function begin(ctx: Ctx, workspaceId: string) {
  const { id } = await addTask(db, ctx, { workspaceId })
  return await startTask(db, ctx, id)
}

describe('a run below several projects', () => {
  it('takes one of the places that the project and those above it have', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const top = await tree.place(null, atMost(2))
    const left = await tree.place(top.workspaceId, atMost(1))
    const right = await tree.addWorkspace(top.workspaceId)

    const { runId } = await begin(ctx, left.workspaceId)
    await assert.rejects(begin(ctx, left.workspaceId), {
      code: 'budget_exceeded',
      details: {
        budget: 'maxConcurrentRuns',
        projectId: left.project.id,
        limit: 1,
        used: 1,
      },
    })
    const { claimId } = await begin(ctx, right)
    await assert.rejects(begin(ctx, right), { code: 'budget_exceeded' })
    await begin(ctx, await tree.addWorkspace())

    await endLease(db, ctx, 'claims', claimId)
    await begin(ctx, right)
    await transaction(db, 'read write', (sql) => failRun(sql, ctx, { id: runId, reason: 'tried' }))
    await begin(ctx, left.workspaceId)
  })

  it('does not start where the project stopped new runs', async () => {
    const ctx = await testCtx(db)
    const { workspaceId } = await projectsOf(db, ctx).place(null, atMost(0))
    await assert.rejects(begin(ctx, workspaceId), { code: 'budget_exceeded' })
  })

  it('is told what the project tells its agents, and by which version of it', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { workspaceId, project } = await tree.place(null, {
      config: { agentInstructions: 'Write in English.' },
    })
    const task = {
      typeKey: 'task',
      typeVersion: 1,
      workspaceId: await tree.addWorkspace(workspaceId),
    }
    const told = async () =>
      instructionsFor(db, ctx, task, await readWorkRules(db, ctx, task.workspaceId))
    const before = await told()
    const layer = { source: 'project', ref: project.id, version: 1, text: 'Write in English.' }
    assert.deepEqual(before.layers, [layer])
    await tree.configure(project.id, { agentInstructions: 'Write in Russian.' })
    const after = await told()
    assert.deepEqual(after.layers, [{ ...layer, version: 2, text: 'Write in Russian.' }])
    assert.notEqual(after.hash, before.hash)
  })
})
