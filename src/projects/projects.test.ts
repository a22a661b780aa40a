import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { AppError } from '#lib/errors.ts'
import { archiveWorkspace } from '#org/archive-workspace.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { archiveProject } from './archive-project.ts'
import { createTemplate } from './create-template.ts'
import type { NewTemplate } from './create-template.ts'
import { selectProjectScope } from './layers.sql.ts'
import { selectProjects } from './project.sql.ts'
import { readEffective, readWorkRules } from './read-governance.ts'
import { targetsOfProject, transitionProject } from './transition-project.ts'
import { updateProject } from './update-project.ts'

const db = await sharedDb()

function addTemplate(ctx: Ctx, template: Partial<NewTemplate> & { key: string }) {
  const base = { displayName: template.key, description: '', config: {} }
  return transaction(db, 'read write', (sql) => createTemplate(sql, ctx, { ...base, ...template }))
}

function transition(ctx: Ctx, id: string, statusKey: string, expectedVersion: number) {
  return transaction(db, 'read write', (sql) =>
    transitionProject(sql, ctx, { id, statusKey, expectedVersion }),
  )
}

function archive(ctx: Ctx, id: string) {
  return transaction(db, 'read write', (sql) => archiveProject(sql, ctx, { id }))
}

async function eventsOf(ctx: Ctx): Promise<unknown[]> {
  const rows = await db<{ type: string; entityVersion: number; payload: unknown }[]>`
    select type, entity_version, payload
    from events
    where tenant_id = ${ctx.tenantId}
      and type like 'project%'
    order by tx_id, sequence`
  return rows.map(({ type, entityVersion, payload }) => [type, entityVersion, payload])
}

function codesOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as AppError).code] : [],
  )
}

describe('a project', () => {
  it('is one workspace’s, whoever asks at the same moment', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const workspaceId = await tree.addWorkspace()
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => tree.add({ workspaceId })),
    )
    assert.deepEqual(codesOf(results), Array<string>(7).fill('project_exists'))
    await assert.rejects(tree.add({ workspaceId }), { code: 'project_exists' })
    const page = { listing: 'projects', limit: 50, after: undefined }
    const all = { page, status: undefined, statusCategory: undefined, ownerId: undefined }
    assert.equal((await selectProjects(db, ctx, { ...all, workspaceIds: undefined })).length, 1)
  })

  it('belongs to the project of the nearest workspace above that has one, as the trees stand', async () => {
    const tree = projectsOf(db, await testCtx(db))
    const top = await tree.place()
    const plain = await tree.addWorkspace(top.workspaceId)
    const deep = await tree.addWorkspace(plain)
    const low = await tree.place(deep)
    assert.equal(top.project.parentProjectId, null)
    assert.equal(low.project.parentProjectId, top.project.id)
    const middle = await tree.add({ workspaceId: plain })
    assert.equal(middle.parentProjectId, top.project.id)
    assert.equal((await tree.find(low.project.id)).parentProjectId, middle.id)
  })

  it('covers its workspace and what is below it up to nested projects, or all of it', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { workspaceId } = await tree.place()
    const plain = await tree.addWorkspace(workspaceId)
    const nested = await tree.place(plain)
    const inner = await tree.addWorkspace(nested.workspaceId)
    await tree.addWorkspace()
    const scope = (includeSubprojects: boolean) =>
      selectProjectScope(db, ctx, { workspaceId, includeSubprojects })
    assert.deepEqual(await scope(false), [workspaceId, plain])
    assert.deepEqual(await scope(true), [workspaceId, plain, nested.workspaceId, inner])
  })

  it('needs an open workspace of the tenant, an owner and a template that there are', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const closed = await tree.addWorkspace()
    await transaction(db, 'read write', (sql) => archiveWorkspace(sql, ctx, { id: closed }))
    await assert.rejects(tree.add({ workspaceId: closed }), { code: 'workspace_archived' })
    const workspaceId = await tree.addWorkspace()
    const other = await testCtx(db)
    await addTemplate(other, { key: 'theirs' })
    for (const input of [
      { templateKey: 'theirs' },
      { ownerPrincipalId: other.actorId },
      { workspaceId: await projectsOf(db, other).addWorkspace() },
    ]) {
      await assert.rejects(tree.add({ workspaceId, ...input }), { code: 'not_found' })
    }
  })

  it('does not end before it begins', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const dates = { startDate: '2026-05-01', targetDate: '2026-04-30' }
    await assert.rejects(tree.place(null, dates), { code: 'invalid_request' })
    const { project } = await tree.place(null, { startDate: '2026-05-01' })
    const update = (targetDate: string) =>
      transaction(db, 'read write', (sql) =>
        updateProject(sql, ctx, { id: project.id, expectedVersion: project.version, targetDate }),
      )
    await assert.rejects(update('2026-04-30'), { code: 'invalid_request' })
    assert.equal((await update('2026-05-01')).targetDate, '2026-05-01')
  })

  it('moves only where its lifecycle leads, and one of two who move it wins', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const lifecycle = {
      statuses: [
        { key: 'draft', category: 'open' as const },
        { key: 'live', category: 'active' as const, displayName: 'Live now' },
        { key: 'over', category: 'terminal_success' as const },
      ],
      transitions: [
        { from: 'draft', to: 'live' },
        { from: 'live', to: 'over' },
      ],
      initialStatus: 'draft',
    }
    await addTemplate(ctx, { key: 'launch', lifecycle })
    const { project } = await tree.place(null, { templateKey: 'launch' })
    assert.deepEqual([project.statusKey, project.statusCategory], ['draft', 'open'])
    assert.deepEqual(await targetsOfProject(db, ctx, project), [
      { statusKey: 'live', systemStatusCategory: 'active', displayName: 'Live now' },
    ])
    await assert.rejects(transition(ctx, project.id, 'over', 1), {
      code: 'invalid_transition',
      details: { from: 'draft', to: 'over', allowed: ['live'] },
    })
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => transition(ctx, project.id, 'live', 1)),
    )
    assert.deepEqual(codesOf(results), Array<string>(4).fill('version_conflict'))
    assert.equal((await transition(ctx, project.id, 'over', 2)).statusCategory, 'terminal_success')
  })

  it('takes no change once archived, and its rules still hold below it', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const rules = { governance: { maxRunActions: 3 } }
    const { project, workspaceId } = await tree.place(null, { config: rules })
    const below = await tree.place(workspaceId)
    const archived = await archive(ctx, project.id)
    assert.equal((await archive(ctx, project.id)).version, archived.version)
    const { version, id } = archived
    const refused = { code: 'project_archived' }
    await assert.rejects(transition(ctx, id, 'active', version), refused)
    await assert.rejects(tree.write(id, {}), refused)
    await assert.rejects(tree.activate(id, 1), refused)
    const update = transaction(db, 'read write', (sql) =>
      updateProject(sql, ctx, { id, expectedVersion: version, settings: {} }),
    )
    await assert.rejects(update, refused)
    assert.deepEqual(await targetsOfProject(db, ctx, archived), [])
    const { config } = await readEffective(db, ctx, below.workspaceId)
    assert.equal(config.governance.maxRunActions, 3)
  })

  it('is journaled without its configuration, under its workspace, in the order of its versions', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const config = { note: 'not for the journal' }
    const { project, workspaceId } = await tree.place(null, { config, settings: config })
    await transition(ctx, project.id, 'active', project.version)
    await archive(ctx, project.id)
    const place = { workspaceId, parentProjectId: null, templateKey: null, templateVersion: null }
    const planned = { statusKey: 'planned', systemStatusCategory: 'open' }
    assert.deepEqual(await eventsOf(ctx), [
      ['project.created', 1, { ...place, ...planned }],
      ['project.config_revision_created', 1, { projectId: project.id, revision: 1 }],
      ['project.config_revision_activated', 2, { revision: 1 }],
      [
        'project.status_changed',
        3,
        {
          fromStatusKey: 'planned',
          statusKey: 'active',
          systemStatusCategory: 'active',
          comment: null,
        },
      ],
      ['project.archived', 4, { workspaceId }],
    ])
    const rows = await db`
      select distinct workspace_id
      from events
      where tenant_id = ${ctx.tenantId}
        and type like 'project.%'`
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ workspaceId }],
    )
  })

  it('is kept from callers without the permission, past the route as well', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    const { project } = await tree.place()
    const reader = await testCtx(db, { tenantId: ctx.tenantId, permissions: ['projects.read'] })
    const denied = { code: 'permission_denied' }
    await assert.rejects(transition(reader, project.id, 'active', 1), denied)
    await assert.rejects(archive(reader, project.id), denied)
    await assert.rejects(projectsOf(db, reader).write(project.id, {}), denied)
    await assert.rejects(addTemplate(reader, { key: 'x' }), denied)
  })
})

describe('a project template', () => {
  it('gets its versions one after another, and none of them ever changes', async () => {
    const ctx = await testCtx(db)
    const added = await Promise.all(
      Array.from({ length: 6 }, (_, n) => addTemplate(ctx, { key: 'web', displayName: `v${n}` })),
    )
    assert.deepEqual(
      added.map(({ version }) => version).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    )
    const change = db`
      update project_templates
      set config = '{}'
      where tenant_id = ${ctx.tenantId}`
    await assert.rejects(change, /a version never changes/)
    const tree = projectsOf(db, ctx)
    const { project } = await tree.place(null, { templateKey: 'web' })
    const older = await tree.place(null, { templateKey: 'web', templateVersion: 2 })
    assert.deepEqual([project.templateVersion, older.project.templateVersion], [6, 2])
    const missing = tree.place(null, { templateKey: 'web', templateVersion: 7 })
    await assert.rejects(missing, { code: 'not_found' })
  })

  it('is refused a lifecycle with faults, each with its place', async () => {
    const ctx = await testCtx(db)
    const lifecycle = {
      statuses: [
        { key: 'a', category: 'open' as const },
        { key: 'a', category: 'active' as const },
      ],
      transitions: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'a' },
      ],
      initialStatus: 'c',
    }
    await assert.rejects(addTemplate(ctx, { key: 'bad', lifecycle }), {
      code: 'invalid_lifecycle',
      details: {
        errors: [
          { loc: 'body.lifecycle.statuses.1.key', message: 'is declared twice' },
          { loc: 'body.lifecycle.transitions.0.to', message: 'is not a status' },
          { loc: 'body.lifecycle.transitions.1', message: 'leads nowhere' },
          { loc: 'body.lifecycle.initialStatus', message: 'is not a status' },
        ],
      },
    })
  })

  it('weaker than an ancestor counts for nothing', async () => {
    const ctx = await testCtx(db)
    const tree = projectsOf(db, ctx)
    await addTemplate(ctx, { key: 'loose', config: { governance: { maxConcurrentRuns: 9 } } })
    const top = await tree.place(null, { config: { governance: { maxConcurrentRuns: 2 } } })
    const { workspaceId } = await tree.place(top.workspaceId, { templateKey: 'loose' })
    const rules = await readWorkRules(db, ctx, await tree.addWorkspace(workspaceId))
    assert.equal(rules?.governance.maxConcurrentRuns, 2)
  })
})
