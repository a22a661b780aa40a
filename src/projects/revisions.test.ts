import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { activateRevision } from './activate-revision.ts'
import { readEffective, readWorkRules } from './read-governance.ts'
import { selectRevisions } from './revision.sql.ts'

const db = await sharedDb()

const actions = (maxRunActions: number | null) => ({ governance: { maxRunActions } })
const WEAKENED = { code: 'governance_weakened' }

describe('a config revision', () => {
  it('gets the next number, changes nothing by itself and never changes', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { project } = await tree.place()
    const added = await Promise.all(
      Array.from({ length: 6 }, (_, n) => tree.write(project.id, { note: n })),
    )
    assert.deepEqual(
      added.map(({ revision }) => revision).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    )
    const same = await tree.find(project.id)
    assert.deepEqual([same.activeRevision, same.version], [null, 1])
    const page = { listing: 'revisions', limit: 4, after: undefined }
    const newest = await selectRevisions(db, ctx, { projectId: project.id, page })
    assert.deepEqual(
      newest.map(({ revision }) => revision),
      [6, 5, 4, 3, 2],
    )
    const after = newest[3]
    const rest = await selectRevisions(db, ctx, { projectId: project.id, page: { ...page, after } })
    assert.deepEqual(
      rest.map(({ revision }) => revision),
      [2, 1],
    )
    const remove = db`
      delete from project_config_revisions
      where tenant_id = ${ctx.tenantId}`
    await assert.rejects(remove, /a version never changes/)
  })

  it('is put in force by moving one pointer, forwards and back', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { project, workspaceId } = await tree.place()
    await tree.write(project.id, { note: 'one' })
    await tree.write(project.id, { note: 'two' })
    const noteNow = async () => (await readEffective(db, ctx, workspaceId)).config['note']

    assert.equal(await noteNow(), undefined)
    assert.equal((await tree.activate(project.id, 2)).version, 2)
    assert.equal(await noteNow(), 'two')
    assert.equal((await tree.activate(project.id, 1)).activeRevision, 1)
    assert.equal(await noteNow(), 'one')
    assert.equal((await tree.activate(project.id, 1)).version, 3)
    await assert.rejects(tree.activate(project.id, 3), { code: 'not_found' })
  })

  it('is put in force by one of those who saw the same version', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { id } = (await tree.place()).project
    for (let n = 1; n <= 4; n += 1) await tree.write(id, { n })
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((revision) =>
        transaction(db, 'read write', (sql) =>
          activateRevision(sql, ctx, { id, revision, expectedVersion: 1 }),
        ),
      ),
    )
    const codes = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as AppError).code] : [],
    )
    assert.deepEqual(codes, Array<string>(3).fill('version_conflict'))
    assert.equal((await tree.find(id)).version, 2)
  })

  it('weaker than an ancestor is written down, but not put in force', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const top = await tree.place(null, {
      config: { governance: { maxRunActions: 10, allowedTaskPriorities: ['low', 'high'] } },
    })
    const { project, workspaceId } = await tree.place(top.workspaceId)
    const weak = {
      governance: {
        maxRunActions: null,
        allowedTaskPriorities: ['high' as const, 'medium' as const],
      },
    }
    const { revision } = await tree.write(project.id, weak)
    await assert.rejects(tree.activate(project.id, revision), {
      ...WEAKENED,
      details: {
        violations: [
          {
            path: 'governance.allowedTaskPriorities',
            ancestor: ['high', 'low'],
            child: ['high', 'medium'],
          },
          { path: 'governance.maxRunActions', ancestor: 10, child: null },
        ],
      },
    })
    assert.equal((await tree.find(project.id)).activeRevision, null)
    const direct = tree.place(workspaceId, { config: weak })
    await assert.rejects(direct, WEAKENED)
  })

  it('stays in force when an ancestor gets stricter, though what holds is what both ask for', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const top = await tree.place(null, { config: actions(10) })
    const { project, workspaceId } = await tree.place(top.workspaceId, { config: actions(8) })
    await tree.configure(top.project.id, actions(5))
    assert.equal((await tree.find(project.id)).activeRevision, 1)
    const { config, provenance } = await readEffective(db, ctx, workspaceId)
    assert.equal(config.governance.maxRunActions, 5)
    assert.equal(provenance['governance.maxRunActions'], 'ancestor')
    const { revision } = await tree.write(project.id, { ...actions(8), note: 'later' })
    await assert.rejects(tree.activate(project.id, revision), WEAKENED)
  })

  it('and settings hold no credentials, and the refusal does not repeat them', async () => {
    const tree = projectsOf(db, await testCtx(db))
    const { project } = await tree.place()
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
    for (const attempt of [
      () => tree.write(project.id, { agentInstructions: `Use ${secret} to push` }),
      () => tree.write(project.id, { registry: { password: 'correct-horse-battery' } }),
      () => tree.place(null, { settings: { note: secret } }),
      () => tree.place(null, { config: { list: ['a', secret] } }),
    ]) {
      const error = await attempt().then(
        () => assert.fail('was not refused'),
        (cause: unknown) => cause,
      )
      assert.ok(error instanceof AppError)
      assert.equal(error.code, 'secret_refused')
      const said = JSON.stringify([error.message, error.details])
      assert.doesNotMatch(said, /ghp_|correct-horse/)
      assert.match(said, /body\.(config|settings)\./)
    }
  })
})

describe('the rules for work', () => {
  it('are those of the nearest project, and name every bound on concurrent runs above it', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const top = await tree.place(null, {
      config: { governance: { maxConcurrentRuns: 5 }, agentInstructions: 'Be brief.' },
    })
    const middle = await tree.place(top.workspaceId, { config: actions(7) })
    const low = await tree.place(middle.workspaceId, {
      config: { governance: { maxConcurrentRuns: 2 } },
    })
    const leaf = await tree.addWorkspace(low.workspaceId)
    const rules = await readWorkRules(db, ctx, leaf)
    assert.equal(rules?.projectId, low.project.id)
    const told = { projectId: top.project.id, version: 1, text: 'Be brief.' }
    assert.deepEqual(rules.instructions, told)
    assert.deepEqual([rules.governance.maxRunActions, rules.governance.maxConcurrentRuns], [7, 2])
    assert.deepEqual(
      rules.runBounds.map(({ projectId, maxConcurrentRuns }) => [projectId, maxConcurrentRuns]),
      [
        [top.project.id, 5],
        [low.project.id, 2],
      ],
    )
    assert.equal(await readWorkRules(db, ctx, await tree.addWorkspace()), undefined)
    assert.equal(await readWorkRules(db, ctx, null), undefined)
    assert.equal(await readWorkRules(db, await testCtx(db), leaf), undefined)
  })
})
