import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { testCtx, testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { archiveWorkspace } from './archive-workspace.ts'
import { createWorkspace } from './create-workspace.ts'
import { updateWorkspace } from './update-workspace.ts'
import { selectAncestors, selectSubtree, selectWorkspace } from './workspace.sql.ts'
import { MAX_WORKSPACE_DEPTH, treesOf } from './workspace.ts'

const db = await sharedDb()

function add(ctx: Ctx, slug: string, parentId: string | null = null) {
  return transaction(db, 'read write', (sql) =>
    createWorkspace(sql, ctx, { slug, name: `Workspace ${slug}`, parentId }),
  )
}

function archive(ctx: Ctx, id: string) {
  return transaction(db, 'read write', (sql) => archiveWorkspace(sql, ctx, { id }))
}

async function events(ctx: Ctx, entityId: string) {
  const rows = await db<{ type: string; entityVersion: number; workspaceId: string }[]>`
    select type, entity_version, workspace_id
    from events
    where tenant_id = ${ctx.tenantId}
      and entity_id = ${entityId}
    order by tx_id, sequence`
  return rows.map((row) => ({ ...row }))
}

describe('workspaces', () => {
  it('form trees: ancestors from the workspace up, a subtree from the root down', async () => {
    const ctx = await testCtx(db)
    const root = await add(ctx, 'root')
    const left = await add(ctx, 'left', root.id)
    const leaf = await add(ctx, 'leaf', left.id)
    const right = await add(ctx, 'right', root.id)
    const other = await add(ctx, 'other')

    const line = await selectAncestors(db, ctx, leaf.id)
    assert.deepEqual(
      line.map(({ id }) => id),
      [leaf.id, left.id, root.id],
    )
    const subtree = await selectSubtree(db, ctx, root.id)
    assert.deepEqual(
      subtree.map(({ id }) => id),
      [root.id, left.id, right.id, leaf.id],
    )
    const trees = treesOf(await selectSubtree(db, ctx, undefined))
    assert.deepEqual(
      trees.map(({ slug, children }) => [slug, children.map((child) => child.slug)]),
      [
        ['other', []],
        ['root', ['left', 'right']],
      ],
    )
    assert.equal(other.parentId, null)
  })

  it('are journaled under themselves, with the version after the change', async () => {
    const ctx = await testCtx(db)
    const { id } = await add(ctx, 'a')
    await transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, ctx, { id: id.toUpperCase(), expectedVersion: 1, name: 'New' }),
    )
    await transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, ctx, { id, expectedVersion: 2, name: 'New' }),
    )
    await archive(ctx, id)
    await archive(ctx, id)

    assert.deepEqual(await events(ctx, id), [
      { type: 'workspace.created', entityVersion: 1, workspaceId: id },
      { type: 'workspace.updated', entityVersion: 2, workspaceId: id },
      { type: 'workspace.archived', entityVersion: 3, workspaceId: id },
    ])
  })

  it('do not share a slug with a sibling, but with anyone else', async () => {
    const ctx = await testCtx(db)
    const [one, two] = [await add(ctx, 'one'), await add(ctx, 'two')]
    await add(ctx, 'same', one.id)
    await add(ctx, 'same', two.id)
    await add(await testCtx(db), 'one')

    await assert.rejects(add(ctx, 'same', one.id), { code: 'workspace_slug_conflict' })
    await assert.rejects(add(ctx, 'one'), { code: 'workspace_slug_conflict' })
    const rename = transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, ctx, { id: two.id, expectedVersion: 1, slug: 'one' }),
    )
    await assert.rejects(rename, { code: 'workspace_slug_conflict' })
    assert.equal((await selectWorkspace(db, ctx, two.id))?.slug, 'two')
  })

  it('get a slug once when ten ask for it at the same moment', async () => {
    const ctx = await testCtx(db)

    const results = await Promise.allSettled(Array.from({ length: 10 }, () => add(ctx, 'wanted')))

    const won = results.filter((result) => result.status === 'fulfilled')
    const codes = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as { code?: string }).code] : [],
    )
    assert.equal(won.length, 1)
    assert.deepEqual(new Set(codes), new Set(['workspace_slug_conflict']))
    assert.equal((await selectSubtree(db, ctx, undefined)).length, 1)
  })

  it('are archived from the leaves up, and take nothing new afterwards', async () => {
    const ctx = await testCtx(db)
    const root = await add(ctx, 'root')
    const leaf = await add(ctx, 'leaf', root.id)

    await assert.rejects(archive(ctx, root.id), { code: 'workspace_has_active_children' })
    await archive(ctx, leaf.id)
    const archived = await archive(ctx, root.id)

    assert.equal(archived.status, 'archived')
    await assert.rejects(add(ctx, 'late', root.id), { code: 'workspace_archived' })
    const rename = transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, ctx, { id: root.id, expectedVersion: 2, name: 'Late' }),
    )
    await assert.rejects(rename, { code: 'workspace_archived' })
  })

  it('never end as an active child of an archived parent', async () => {
    const ctx = await testCtx(db)
    for (let round = 0; round < 10; round += 1) {
      const parent = await add(ctx, `parent-${round}`)
      const [child, closed] = await Promise.allSettled([
        add(ctx, 'child', parent.id),
        archive(ctx, parent.id),
      ])
      assert.notEqual(child.status, closed.status)
    }
  })

  it('are nested to a limit', async () => {
    const ctx = await testCtx(db)
    let parentId: string | null = null
    for (let depth = 1; depth <= MAX_WORKSPACE_DEPTH; depth += 1) {
      parentId = (await add(ctx, 'deeper', parentId)).id
    }
    await assert.rejects(add(ctx, 'deeper', parentId), {
      code: 'invalid_request',
      details: { errors: [{ loc: 'body.parentId', message: 'must not be nested deeper than 50' }] },
    })
  })

  it('of another tenant do not exist', async () => {
    const [ours, theirs] = [await testCtx(db), await testCtx(db)]
    const { id } = await add(ours, 'secret')
    const gone = { code: 'not_found' }

    assert.equal(await selectWorkspace(db, theirs, id), undefined)
    assert.equal((await selectAncestors(db, theirs, id)).length, 0)
    assert.equal((await selectSubtree(db, theirs, id)).length, 0)
    await assert.rejects(add(theirs, 'below', id), gone)
    await assert.rejects(add(ours, 'below', newId()), gone)
    await assert.rejects(archive(theirs, id), gone)
    const rename = transaction(db, 'read write', (sql) =>
      updateWorkspace(sql, theirs, { id, expectedVersion: 1, name: 'Mine' }),
    )
    await assert.rejects(rename, gone)
  })

  it('are refused to a caller without the permission, also past the route', async () => {
    const { caller } = await testTenant(db)
    const { ctx } = await caller(['workspaces.read'])

    await assert.rejects(add(ctx, 'nope'), {
      code: 'permission_denied',
      details: { required: 'workspaces.manage' },
    })
  })
})
