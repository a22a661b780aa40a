import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '#lib/errors.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { readEffective } from './read-governance.ts'

const db = await sharedDb()

const actions = (maxRunActions: number | null) => ({ governance: { maxRunActions } })

async function refusal(attempt: Promise<unknown>): Promise<AppError> {
  const error = await attempt.then(
    () => assert.fail('was not refused'),
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof AppError, String(error))
  return error
}

function codesOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as AppError).code] : [],
  )
}

describe('the rules of projects that move with their workspaces', () => {
  it('are weighed against those of the new ancestors, of the whole subtree at once', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const strict = await tree.place(null, { config: actions(10) })
    const below = await tree.addWorkspace(strict.workspaceId)
    const branch = await tree.addWorkspace()
    const left = await tree.place(branch, { config: actions(50) })
    const right = await tree.place(branch, { config: actions(5) })
    const nested = await tree.place(right.workspaceId, {
      config: { governance: { maxRunActions: 4, requireApprovalForRun: false } },
    })

    const { code, details } = await refusal(tree.move(branch, below))
    assert.equal(code, 'governance_weakened')
    assert.deepEqual(details['violations'], [
      {
        projectId: left.project.id,
        path: 'governance.maxRunActions',
        ancestor: 10,
        child: 50,
      },
    ])
    assert.equal((await selectWorkspace(db, ctx, branch))?.parentId, null)
    assert.equal((await tree.find(left.project.id)).parentProjectId, null)

    await tree.configure(left.project.id, actions(10))
    await tree.move(branch, below)
    assert.equal((await tree.find(left.project.id)).parentProjectId, strict.project.id)
    assert.equal((await tree.find(nested.project.id)).parentProjectId, right.project.id)
  })

  it('are weighed by what is written in them: what only a template asks for gives way', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const strict = await tree.place(null, { config: actions(10) })
    const silent = await tree.place()
    await tree.write(silent.project.id, actions(99))
    await tree.move(silent.workspaceId, strict.workspaceId)
    const { config } = await readEffective(db, ctx, silent.workspaceId)
    assert.equal(config.governance.maxRunActions, 10)
  })

  it('are weighed against nested ones too, where an ancestor has become stricter meanwhile', async () => {
    const tree = projectsOf(db, await testCtx(db))
    const elsewhere = await tree.addWorkspace()
    const top = await tree.place(null, { config: actions(20) })
    const inner = await tree.place(top.workspaceId, { config: actions(15) })
    await tree.configure(top.project.id, actions(10))
    const { code } = await refusal(tree.move(top.workspaceId, elsewhere))
    assert.equal(code, 'governance_weakened')
    await tree.configure(inner.project.id, actions(10))
    await tree.move(top.workspaceId, elsewhere)
  })

  it('hold whichever of a move and an activation comes first', async () => {
    for (let round = 1; round <= 10; round += 1) {
      const ctx = await testCtx(db)
      const tree = projectsOf(db, ctx)
      const strict = await tree.place(null, { config: actions(10) })
      const free = await tree.place()
      const { revision } = await tree.write(free.project.id, actions(50))
      const results = await Promise.allSettled([
        tree.move(free.workspaceId, strict.workspaceId),
        tree.activate(free.project.id, revision),
      ])
      assert.deepEqual(codesOf(results), ['governance_weakened'])
      const { parentProjectId, activeRevision } = await tree.find(free.project.id)
      assert.equal(parentProjectId !== null && activeRevision !== null, false)
    }
  })

  it('hold whichever of a move and a new project comes first', async () => {
    for (let round = 1; round <= 10; round += 1) {
      const tree = projectsOf(db, await testCtx(db))
      const strict = await tree.place(null, { config: actions(10) })
      const workspaceId = await tree.addWorkspace()
      const results = await Promise.allSettled([
        tree.move(workspaceId, strict.workspaceId),
        tree.add({ workspaceId, config: actions(50) }),
      ])
      assert.deepEqual(codesOf(results), ['governance_weakened'])
    }
  })
})
