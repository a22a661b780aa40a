import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { CallInput } from '#client/client.ts'
import * as revisions from '#contract/config-revisions.ts'
import * as templates from '#contract/project-templates.ts'
import * as projects from '#contract/projects.ts'
import type { Route } from '#contract/route.ts'
import { createWorkspace, moveWorkspace } from '#contract/workspaces.ts'
import { orgRoutes } from '#org/routes.ts'
import { testApp, testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { projectsRoutes } from './routes.ts'

const db = await sharedDb()
const app = testApp(db, (hono, deps) => {
  orgRoutes(hono, deps)
  projectsRoutes(hono, deps)
})

async function admin() {
  const { key } = await testTenant(db)
  const client = testClient(app, key)
  return {
    make: <R extends Route>(route: R, input: CallInput<R>) => call(client, route, input),
    ask: async <R extends Route>(route: R, input: CallInput<R>) => {
      const response = await send(client, route, input)
      const body = (await response.json()) as { error?: { code: string; details: unknown } }
      return { status: response.status, etag: response.headers.get('etag'), ...body.error }
    },
  }
}

type Admin = Awaited<ReturnType<typeof admin>>

async function addWorkspace({ make }: Admin, slug: string, parentId: string | null = null) {
  return (await make(createWorkspace, { body: { slug, name: `Workspace ${slug}`, parentId } })).id
}

function instructions(bytes: number) {
  return { agentInstructions: 'ж'.repeat(bytes / 2) }
}

function governance(maxRunActions: number) {
  return { config: { governance: { maxRunActions } } }
}

describe('project routes', () => {
  it('make, show, change, move and close a project', async () => {
    const one = await admin()
    const { make } = one
    const workspaceId = await addWorkspace(one, 'site')
    const template = await make(templates.createProjectTemplate, {
      body: { key: 'web', displayName: 'Web', config: { tone: 'plain' } },
    })
    const project = await make(projects.createProject, {
      body: {
        workspaceId,
        templateKey: 'web',
        targetDate: '2026-12-01',
        settings: { tone: 'warm' },
      },
    })
    const params = { id: project.id }
    assert.equal(project.name, 'Workspace site')
    assert.deepEqual([project.templateVersion, project.statusKey], [template.version, 'planned'])

    const transitions = await make(projects.listProjectTransitions, { params })
    assert.deepEqual(
      transitions.items.map(({ statusKey }) => statusKey),
      ['active', 'cancelled'],
    )
    const active = await make(projects.transitionProject, {
      params,
      ifMatch: project.version,
      body: { statusKey: 'active' },
    })
    const changed = await make(projects.updateProject, {
      params,
      ifMatch: active.version,
      body: { settings: { tone: 'dry' } },
    })
    const config = await make(projects.getProjectConfig, { params })
    assert.equal(config.effectiveConfig['tone'], 'dry')
    assert.deepEqual(config.configProvenance, { tone: 'profile' })
    const closed = await make(projects.archiveProject, { params })
    assert.deepEqual([closed.status, closed.version], ['archived', changed.version + 1])
    assert.deepEqual(await make(projects.getProject, { params }), closed)
    const listed = await make(projects.listProjects, { query: { status: 'archived' } })
    assert.deepEqual(listed.items, [closed])
    assert.equal(
      (await make(projects.listProjects, { query: { status: 'active' } })).items.length,
      0,
    )
    const shown = await make(templates.getProjectTemplate, { params: { id: template.id } })
    assert.deepEqual(shown, template)
    const newest = await make(templates.listProjectTemplates, { query: { versions: 'newest' } })
    assert.deepEqual(newest.items, [template])
  })

  it('keep revisions, and put one in force against the version of the project', async () => {
    const one = await admin()
    const { make, ask } = one
    const workspaceId = await addWorkspace(one, 'site')
    const { id } = await make(projects.createProject, { body: { workspaceId } })
    const body = { config: { note: 'one' }, comment: 'First' }
    const revision = await make(revisions.createConfigRevision, { params: { id }, body })
    assert.deepEqual([revision.revision, revision.comment], [1, 'First'])
    const params = { id, revision: '1' }
    assert.deepEqual(await make(revisions.getConfigRevision, { params }), revision)
    assert.deepEqual((await make(revisions.listConfigRevisions, { params: { id } })).items, [
      revision,
    ])

    const stale = await ask(revisions.activateConfigRevision, { params, ifMatch: 7 })
    assert.deepEqual([stale.status, stale.details], [409, { currentVersion: 1 }])
    const missing = await ask(revisions.activateConfigRevision, { params })
    assert.equal(missing.code, 'if_match_required')
    const done = await ask(revisions.activateConfigRevision, { params, ifMatch: 1 })
    assert.deepEqual([done.status, done.etag], [200, '"project-2"'])
    const none = { params: { id, revision: '2' } }
    assert.equal((await ask(revisions.getConfigRevision, none)).status, 404)
  })

  it('refuse what cannot be configured, each with its code', async () => {
    const one = await admin()
    const { make, ask } = one
    const workspaceId = await addWorkspace(one, 'site')
    const { id } = await make(projects.createProject, { body: { workspaceId } })
    const write = async (config: object) => {
      const { status, code } = await ask(revisions.createConfigRevision, {
        params: { id },
        body: { config } as never,
      })
      return [status, code]
    }
    const settle = async (settings: object) => {
      const { status, code } = await ask(projects.updateProject, {
        params: { id },
        ifMatch: 1,
        body: { settings } as never,
      })
      return [status, code]
    }
    const invalid = [400, 'invalid_request']

    assert.deepEqual(await write({ governance: { maxRuns: 1 } }), [422, 'unknown_governance_field'])
    assert.deepEqual(await write({ governance: { maxRunActions: 0 } }), invalid)
    assert.deepEqual(await write({ governance: { maxAutonomyLevel: 'free' } }), invalid)
    assert.deepEqual(await write({ 'two words': 1 }), invalid)
    assert.deepEqual(await write({ note: 'x'.repeat(65_536) }), invalid)
    assert.deepEqual(await write(instructions(16_386)), invalid)
    assert.deepEqual(await write(instructions(16_384)), [201, undefined])
    assert.deepEqual(await settle({ governance: {} }), [422, 'governance_not_in_settings'])
    assert.deepEqual(await settle(instructions(16_386)), invalid)
    assert.deepEqual(await settle({ token: 'correct-horse-battery' }), [422, 'secret_refused'])
    assert.deepEqual(await settle(instructions(16_384)), [200, undefined])
  })

  it('list the projects of a workspace, with or without what is below it, page by page', async () => {
    const one = await admin()
    const { make } = one
    const root = await addWorkspace(one, 'root')
    const ids: string[] = []
    for (const slug of ['a', 'b', 'c']) {
      const workspaceId = await addWorkspace(one, slug, root)
      ids.push((await make(projects.createProject, { body: { workspaceId } })).id)
    }
    await make(projects.createProject, { body: { workspaceId: await addWorkspace(one, 'apart') } })
    const at = { workspaceId: root }
    assert.deepEqual((await make(projects.listProjects, { query: at })).items, [])
    const query = { ...at, includeDescendants: 'true' as const, limit: '2' }
    const first = await make(projects.listProjects, { query })
    const cursor = first.nextCursor ?? ''
    const second = await make(projects.listProjects, { query: { ...query, cursor } })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      ids.toReversed(),
    )
    assert.equal(second.nextCursor, null)
  })

  it('move a workspace only where the rules of its projects stay as strict', async () => {
    const one = await admin()
    const { make, ask } = one
    const strict = await addWorkspace(one, 'strict')
    const loose = await addWorkspace(one, 'loose')
    await make(projects.createProject, { body: { workspaceId: strict, ...governance(1) } })
    const { id } = await make(projects.createProject, {
      body: { workspaceId: loose, ...governance(2) },
    })
    const body = { parentId: strict }
    const refused = await ask(moveWorkspace, { params: { id: loose }, body })
    assert.deepEqual(
      [refused.status, refused.code, refused.details],
      [
        422,
        'governance_weakened',
        {
          violations: [{ projectId: id, path: 'governance.maxRunActions', ancestor: 1, child: 2 }],
        },
      ],
    )
    const below = await addWorkspace(one, 'below', loose)
    const cycle = await ask(moveWorkspace, { params: { id: loose }, body: { parentId: below } })
    assert.deepEqual([cycle.status, cycle.code], [422, 'workspace_cycle'])
    const moved = await ask(moveWorkspace, { params: { id: below }, body })
    assert.deepEqual([moved.status, moved.etag], [200, '"workspace-2"'])
    const scope = await make(projects.getProjectScope, { params: { id } })
    assert.deepEqual(scope.workspaceIds, [loose])
  })
})
