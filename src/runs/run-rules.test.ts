import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProjectConfig } from '#contract/project-config.ts'
import { transaction } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { AppError } from '#lib/errors.ts'
import { createTask } from '#work/create-task.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, endLease } from '../../test/support/leases.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { startRun } from './start-run.ts'

const db = await sharedDb()

async function projectWith(config: ProjectConfig) {
  const { ctx } = await testTenant(db)
  const projects = projectsOf(db, ctx)
  const { workspaceId, project } = await projects.place()
  await projects.configure(project.id, config)
  return { ctx, projects, workspaceId, project: await projects.find(project.id) }
}

/** A claimed task of a workspace, and how a run of it is started. */
async function claimed(ctx: Ctx, workspaceId: string) {
  const task = await transaction(db, 'read write', (sql) =>
    createTask(sql, ctx, { title: 'a task', workspaceId }),
  )
  const claim = await claimNow(db, ctx, { ref: task.id })
  const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
  const start = (budget: { maxDurationSeconds?: number; maxActions?: number } = {}) =>
    transaction(db, 'read write', (sql) =>
      startRun(sql, ctx, { ref: task.id, ...fence, ...budget }),
    )
  return { ...fence, start }
}

describe('a run in a project', () => {
  it('has no larger budget than the project allows', async () => {
    const governance = { maxRunDurationSeconds: 600, maxRunActions: 50 }
    const { ctx, workspaceId } = await projectWith({ governance })
    const limits = async (budget: object) => {
      const run = await (await claimed(ctx, workspaceId)).start(budget)
      return [run.maxDurationSeconds, run.maxActions]
    }
    assert.deepEqual(await limits({}), [600, 50])
    assert.deepEqual(await limits({ maxDurationSeconds: 60, maxActions: 100 }), [60, 50])
  })

  it('is told what the project tells every agent', async () => {
    const agentInstructions = 'Write in English.'
    const { ctx, workspaceId, project } = await projectWith({ agentInstructions })

    const run = await (await claimed(ctx, workspaceId)).start()

    assert.deepEqual(run.instructionsRefs, [{ source: 'project', ref: project.id, version: 1 }])
  })

  it('waits for an approval where the project asks for one', async () => {
    const { ctx, workspaceId } = await projectWith({ governance: { requireApprovalForRun: true } })
    const { start } = await claimed(ctx, workspaceId)
    await assert.rejects(start(), { code: 'approval_required' })
  })

  it('is one of as many as the project bears, however many start at once', async () => {
    const { ctx, workspaceId, projects } = await projectWith({
      governance: { maxConcurrentRuns: 2 },
    })
    const below = await projects.addWorkspace(workspaceId)
    const all = await Promise.all(
      [workspaceId, below, workspaceId, below, workspaceId, below].map((id) => claimed(ctx, id)),
    )

    const results = await Promise.allSettled(all.map(({ start }) => start()))

    const started = all.filter((_, index) => results[index]?.status === 'fulfilled')
    const codes = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as AppError).code] : [],
    )
    assert.deepEqual(
      [started.length, codes],
      [2, Array.from({ length: 4 }, () => 'budget_exceeded')],
    )
    const [gone] = started
    assert.ok(gone)
    await endLease(db, ctx, 'claims', gone.claimId)
    const waiting = all.find((one) => !started.includes(one))
    assert.equal((await waiting?.start())?.status, 'running', 'a lost run holds no place')
  })
})
