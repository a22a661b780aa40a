import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { createWorkspaceType } from './create-workspace-type.ts'
import type { NewWorkspaceType } from './create-workspace-type.ts'
import { createWorkspace } from './create-workspace.ts'
import { updateWorkspaceType } from './update-workspace-type.ts'
import { updateWorkspace } from './update-workspace.ts'
import { selectWorkspace } from './workspace.sql.ts'
import { allowsParent } from './workspace-type.ts'

const db = await sharedDb()

function addType(ctx: Ctx, key: string, rule: Partial<NewWorkspaceType> = {}) {
  const type = { key, displayName: key, description: '', allowRoot: true, parentTypes: null }
  return transaction(db, 'read write', (sql) => createWorkspaceType(sql, ctx, { ...type, ...rule }))
}

function add(ctx: Ctx, slug: string, typeKey: string | null, parentId: string | null = null) {
  return transaction(db, 'read write', (sql) =>
    createWorkspace(sql, ctx, { slug, name: slug, parentId, typeKey }),
  )
}

function retype(ctx: Ctx, id: string, typeKey: string | null) {
  return transaction(db, 'read write', async (sql) => {
    const expectedVersion = (await selectWorkspace(sql, ctx, id))?.version ?? 0
    return await updateWorkspace(sql, ctx, { id, expectedVersion, typeKey })
  })
}

/** A company, departments directly below a company, teams below departments and teams. */
async function addTypes(ctx: Ctx): Promise<void> {
  await addType(ctx, 'company', { parentTypes: [] })
  await addType(ctx, 'department', { allowRoot: false, parentTypes: ['company'] })
  await addType(ctx, 'team', { allowRoot: false, parentTypes: ['department', 'team'] })
}

const REFUSED = { code: 'invalid_workspace_parent' }

describe('the type of a workspace', () => {
  it('says where a workspace may stand; without a type it stands anywhere', () => {
    const rule = { key: 'team', allowRoot: false, parentTypes: ['department'] }
    assert.equal(allowsParent(undefined, { typeKey: 'department' }), true)
    assert.equal(allowsParent(rule, null), false)
    assert.equal(allowsParent(rule, { typeKey: 'department' }), true)
    assert.equal(allowsParent(rule, { typeKey: 'company' }), false)
    assert.equal(allowsParent(rule, { typeKey: null }), false)
    assert.equal(allowsParent({ ...rule, parentTypes: null }, { typeKey: null }), true)
    assert.equal(allowsParent({ ...rule, parentTypes: [] }, { typeKey: 'team' }), false)
  })

  it('is asked when a workspace is made', async () => {
    const ctx = await testCtx(db)
    await addTypes(ctx)
    const company = await add(ctx, 'company', 'company')
    const department = await add(ctx, 'department', 'department', company.id)
    const team = await add(ctx, 'team', 'team', department.id)
    await add(ctx, 'inner-team', 'team', team.id)
    await add(ctx, 'notes', null, team.id)

    await assert.rejects(add(ctx, 'x', 'department'), REFUSED)
    await assert.rejects(add(ctx, 'x', 'company', company.id), REFUSED)
    await assert.rejects(add(ctx, 'x', 'team', company.id), {
      ...REFUSED,
      details: {
        typeKey: 'team',
        parentTypeKey: 'company',
        allowed: { allowRoot: false, parentTypes: ['department', 'team'] },
      },
    })
    const plain = await add(ctx, 'plain', null)
    await assert.rejects(add(ctx, 'x', 'team', plain.id), REFUSED)
    await assert.rejects(add(ctx, 'x', 'nothing'), { code: 'not_found' })
  })

  it('is asked when it changes, and so are the types of what is directly below', async () => {
    const ctx = await testCtx(db)
    await addTypes(ctx)
    const company = await add(ctx, 'company', 'company')
    const department = await add(ctx, 'department', 'department', company.id)
    const team = await add(ctx, 'team', 'team', department.id)

    await assert.rejects(retype(ctx, team.id, 'department'), REFUSED)
    await assert.rejects(retype(ctx, department.id, null), REFUSED)
    await assert.rejects(retype(ctx, company.id, 'team'), REFUSED)
    assert.equal((await retype(ctx, team.id, null)).typeKey, null)
    assert.equal((await retype(ctx, department.id, null)).typeKey, null)
    await assert.rejects(retype(ctx, team.id, 'team'), REFUSED)
  })

  it('leaves workspaces where they stand when its rules change', async () => {
    const ctx = await testCtx(db)
    await addTypes(ctx)
    const company = await add(ctx, 'company', 'company')
    const department = await add(ctx, 'department', 'department', company.id)
    const change = (expectedVersion: number) =>
      transaction(db, 'read write', (sql) =>
        updateWorkspaceType(sql, ctx, { key: 'department', expectedVersion, parentTypes: [] }),
      )

    assert.equal((await change(1)).version, 2)
    assert.equal((await change(2)).version, 2)
    await assert.rejects(change(1), { code: 'version_conflict' })
    await assert.rejects(add(ctx, 'second', 'department', company.id), REFUSED)
    const same = await transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, ctx, { id: department.id, expectedVersion: 1, name: 'Renamed' }),
    )
    assert.equal(same.typeKey, 'department')
  })

  it('has a key that nothing else in the tenant has, whoever asks at the same moment', async () => {
    const ctx = await testCtx(db)
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => addType(ctx, 'wanted')),
    )
    const refusals = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as { code?: string }).code] : [],
    )
    assert.deepEqual(refusals, Array<string>(4).fill('workspace_type_exists'))
    await addType(await testCtx(db), 'wanted')
  })

  it('names only parents that there are', async () => {
    const ctx = await testCtx(db)
    await addType(ctx, 'folder', { parentTypes: ['folder'] })
    await assert.rejects(addType(ctx, 'file', { parentTypes: ['foldre'] }), { code: 'not_found' })
    const bad = transaction(db, 'read write', (sql) =>
      updateWorkspaceType(sql, ctx, { key: 'folder', expectedVersion: 1, parentTypes: ['nil'] }),
    )
    await assert.rejects(bad, { code: 'not_found' })
  })
})
