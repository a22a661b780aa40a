import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { archiveWorkspace } from './archive-workspace.ts'
import { createWorkspaceType } from './create-workspace-type.ts'
import { createWorkspace } from './create-workspace.ts'
import { moveWorkspace } from './move-workspace.ts'
import type { MoveCheck } from './move-workspace.ts'
import { treeEntity } from './tree-lock.ts'
import { selectAncestors, selectSubtree, selectWorkspace } from './workspace.sql.ts'
import { MAX_WORKSPACE_DEPTH } from './workspace.ts'

const db = await sharedDb()
const allowed: MoveCheck = async () => {}

function add(ctx: Ctx, slug: string, parentId: string | null = null, typeKey?: string) {
  return transaction(db, 'read write', (sql) =>
    createWorkspace(sql, ctx, { slug, name: slug, parentId, typeKey }),
  )
}

function move(ctx: Ctx, id: string, parentId: string | null, check = allowed) {
  return transaction(db, 'read write', (sql) => moveWorkspace(sql, ctx, { id, parentId }, check))
}

async function chain(ctx: Ctx, slug: string, length: number): Promise<string[]> {
  const ids: string[] = []
  for (let depth = 1; depth <= length; depth += 1) {
    ids.push((await add(ctx, `${slug}-${depth}`, ids.at(-1) ?? null)).id)
  }
  return ids
}

async function lineOf(ctx: Ctx, id: string): Promise<string[]> {
  return (await selectAncestors(db, ctx, id)).map(({ slug }) => slug)
}

async function movesOf(ctx: Ctx): Promise<unknown[]> {
  const rows = await db`
    select entity_id, entity_version, workspace_id, payload
    from events
    where tenant_id = ${ctx.tenantId}
      and type = 'workspace.moved'
    order by tx_id, sequence`
  return rows.map((row) => ({ ...row }))
}

function codeOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === 'fulfilled') return 'done'
  return result.reason instanceof AppError ? result.reason.code : String(result.reason)
}

describe('a workspace that moves', () => {
  it('takes everything below it along, and the journal says from where to where', async () => {
    const ctx = await testCtx(db)
    const [left, right] = [await add(ctx, 'left'), await add(ctx, 'right')]
    const node = await add(ctx, 'node', left.id)
    const leaf = await add(ctx, 'leaf', node.id)

    const moved = await move(ctx, node.id, right.id)
    assert.deepEqual([moved.parentId, moved.version], [right.id, 2])
    assert.deepEqual(await lineOf(ctx, leaf.id), ['leaf', 'node', 'right'])
    assert.equal((await move(ctx, node.id, null)).parentId, null)
    assert.deepEqual(await lineOf(ctx, leaf.id), ['leaf', 'node'])
    assert.equal((await move(ctx, node.id, null)).version, 3)

    const about = { entityId: node.id, workspaceId: node.id }
    assert.deepEqual(await movesOf(ctx), [
      { ...about, entityVersion: 2, payload: { fromParentId: left.id, toParentId: right.id } },
      { ...about, entityVersion: 3, payload: { fromParentId: right.id, toParentId: null } },
    ])
  })

  it('never ends below itself', async () => {
    const ctx = await testCtx(db)
    const [top = '', middle = '', bottom = ''] = await chain(ctx, 'w', 3)
    for (const parentId of [top, middle, bottom]) {
      await assert.rejects(move(ctx, top, parentId), { code: 'workspace_cycle' })
    }
    await assert.rejects(move(ctx, top.toUpperCase(), bottom.toUpperCase()), {
      code: 'workspace_cycle',
    })
    assert.deepEqual(await lineOf(ctx, bottom), ['w-3', 'w-2', 'w-1'])
    assert.deepEqual(await movesOf(ctx), [])
  })

  it('closes no cycle with another that moves at the same moment', async () => {
    const ctx = await testCtx(db)
    for (let round = 1; round <= 20; round += 1) {
      const [a, b] = [await add(ctx, `a${round}`), await add(ctx, `b${round}`)]
      const below = await add(ctx, 'below', a.id)
      const results = await Promise.allSettled([move(ctx, a.id, b.id), move(ctx, b.id, below.id)])
      assert.deepEqual(results.map(codeOf).toSorted(byText), ['done', 'workspace_cycle'])
    }
  })

  it('waits for another, and then decides by the trees as they are', async () => {
    const ctx = await testCtx(db)
    const [a, b] = [await add(ctx, 'a'), await add(ctx, 'b')]
    let waiting: Promise<unknown> = Promise.resolve()
    await transaction(db, 'read write', async (sql) => {
      const both = [a, b].map(({ id }) => ({ type: 'workspace', id }))
      await lockEntities(sql, ctx, [treeEntity(ctx), ...both])
      waiting = assert.rejects(move(ctx, b.id, a.id), { code: 'workspace_cycle' })
      await waitForWaiters(db, sql, 1)
      await moveWorkspace(sql, ctx, { id: a.id, parentId: b.id }, allowed)
    })
    await waiting
    assert.deepEqual(await lineOf(ctx, a.id), ['a', 'b'])
  })

  it('stays one tree however many move about at once', async () => {
    const ctx = await testCtx(db)
    const nodes = await Promise.all(Array.from({ length: 8 }, (_, n) => add(ctx, `n${n}`)))
    const moves = nodes.flatMap((node, n) =>
      [1, 3, 5].map((step) => move(ctx, node.id, nodes[(n + step) % nodes.length]?.id ?? null)),
    )
    const codes = (await Promise.allSettled(moves)).map(codeOf)
    assert.deepEqual(
      codes.filter((code) => code !== 'done' && code !== 'workspace_cycle'),
      [],
    )
    const reached = await selectSubtree(db, ctx, undefined)
    assert.equal(reached.length, nodes.length)
  })

  it('is refused the slug of its new siblings', async () => {
    const ctx = await testCtx(db)
    const [left, right] = [await add(ctx, 'left'), await add(ctx, 'right')]
    const node = await add(ctx, 'same', left.id)
    await add(ctx, 'same', right.id)
    await assert.rejects(move(ctx, node.id, right.id), { code: 'workspace_slug_conflict' })
    assert.deepEqual(await lineOf(ctx, node.id), ['same', 'left'])
  })

  it('goes where its type allows', async () => {
    const ctx = await testCtx(db)
    const type = { description: '', allowRoot: true, parentTypes: null }
    for (const rule of [
      { ...type, key: 'unit' },
      { ...type, key: 'team', allowRoot: false, parentTypes: ['unit'] },
    ]) {
      await transaction(db, 'read write', (sql) =>
        createWorkspaceType(sql, ctx, { ...rule, displayName: rule.key }),
      )
    }
    const [one, two] = [await add(ctx, 'one', null, 'unit'), await add(ctx, 'two', null, 'unit')]
    const plain = await add(ctx, 'plain')
    const team = await add(ctx, 'team', one.id, 'team')
    await assert.rejects(move(ctx, team.id, null), { code: 'invalid_workspace_parent' })
    await assert.rejects(move(ctx, team.id, plain.id), { code: 'invalid_workspace_parent' })
    assert.equal((await move(ctx, team.id, two.id)).parentId, two.id)
  })

  it('makes no tree deeper than the limit, the workspaces below it counted', async () => {
    const ctx = await testCtx(db)
    const deep = await chain(ctx, 'deep', MAX_WORKSPACE_DEPTH - 2)
    const [head = ''] = await chain(ctx, 'short', 3)
    await assert.rejects(move(ctx, head, deep.at(-1) ?? null), { code: 'invalid_request' })
    assert.equal((await move(ctx, head, deep.at(-2) ?? null)).parentId, deep.at(-2))
  })

  it('is open, as its new parent is', async () => {
    const ctx = await testCtx(db)
    const [open, closed] = [await add(ctx, 'open'), await add(ctx, 'closed')]
    await transaction(db, 'read write', (sql) => archiveWorkspace(sql, ctx, { id: closed.id }))
    await assert.rejects(move(ctx, closed.id, open.id), { code: 'workspace_archived' })
    await assert.rejects(move(ctx, open.id, closed.id), { code: 'workspace_archived' })
  })

  it('is never left active below a parent that was archived at the same moment', async () => {
    const ctx = await testCtx(db)
    for (let round = 1; round <= 10; round += 1) {
      const [node, parent] = [await add(ctx, `n${round}`), await add(ctx, `p${round}`)]
      const close = transaction(db, 'read write', (sql) =>
        archiveWorkspace(sql, ctx, { id: parent.id }),
      )
      const codes = (await Promise.allSettled([move(ctx, node.id, parent.id), close])).map(codeOf)
      assert.equal(codes.filter((code) => code === 'done').length, 1, codes.join(', '))
    }
  })

  it('is back in its place when the check refuses the new one, which the check has seen', async () => {
    const ctx = await testCtx(db)
    const [left, right] = [await add(ctx, 'left'), await add(ctx, 'right')]
    const node = await add(ctx, 'node', left.id)
    const seen: (string | null | undefined)[] = []
    const refuse: MoveCheck = async (sql, one, id) => {
      seen.push((await selectWorkspace(sql, one, id))?.parentId)
      throw new AppError('governance_weakened', 'Cannot weaken')
    }
    await assert.rejects(move(ctx, node.id, right.id, refuse), { code: 'governance_weakened' })
    assert.deepEqual(seen, [right.id])
    const after = await selectWorkspace(db, ctx, node.id)
    assert.deepEqual([after?.parentId, after?.version], [left.id, 1])
    assert.deepEqual(await movesOf(ctx), [])
  })

  it('belongs to the caller’s tenant, and so does its new parent', async () => {
    const ctx = await testCtx(db)
    const other = await testCtx(db)
    const [ours, theirs] = [await add(ctx, 'ours'), await add(other, 'theirs')]
    await assert.rejects(move(ctx, theirs.id, null), { code: 'not_found' })
    await assert.rejects(move(ctx, ours.id, theirs.id), { code: 'not_found' })
    const agent = await testCtx(db, { tenantId: ctx.tenantId, permissions: ['workspaces.read'] })
    await assert.rejects(move(agent, ours.id, null), { code: 'permission_denied' })
  })

  it('stays within what the caller reaches', async () => {
    const ctx = await testCtx(db)
    const [root, apart] = [await add(ctx, 'root'), await add(ctx, 'apart')]
    const [left, right] = [await add(ctx, 'left', root.id), await add(ctx, 'right', root.id)]
    const limited: Ctx = { ...ctx, reach: { kind: 'subtree', workspaceId: root.id } }
    await assert.rejects(move(limited, left.id, null), { code: 'permission_denied' })
    await assert.rejects(move(limited, left.id, apart.id), { code: 'not_found' })
    await assert.rejects(move(limited, apart.id, root.id), { code: 'not_found' })
    assert.equal((await move(limited, left.id, right.id)).parentId, right.id)
  })
})

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}
