import {
  archiveWorkspace,
  createWorkspace,
  getWorkspace,
  getWorkspaceTree,
  listWorkspaces,
  moveWorkspace,
  updateWorkspace,
} from '#contract/workspaces.ts'
import type { Workspace, WorkspaceNode } from '#contract/workspaces.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { resolveWorkspace } from './resolve-workspace.ts'
import type { Screen } from './screen.ts'

const WORKSPACE_ARGUMENT = ['<workspace> is an id, a slug or a path of slugs such as shop/api.']
const TYPE_OPTION = { value: 'key', summary: 'Its workspace type' } as const

const create = command({
  name: 'workspace create',
  args: '<slug>',
  summary: 'Create a workspace at the top or under another',
  options: {
    name: { value: 'name', summary: 'What people call it (the slug)' },
    parent: { value: 'workspace', summary: 'Id, slug or path of the workspace above it' },
    type: TYPE_OPTION,
  },
  async run(cli, { positionals: [slug = ''], values: { name = slug, parent, type } }) {
    const parentId = parent === undefined ? null : await resolveWorkspace(cli, parent)
    const body = { slug, name, parentId, ...given({ typeKey: type }) }
    const workspace = await cli.call(createWorkspace, { body })
    cli.screen.result(workspace, () => cli.screen.line(`Created workspace ${slug} ${workspace.id}`))
  },
})

const list = command({
  name: 'workspace list',
  summary: 'List workspaces, newest first',
  options: {
    parent: { value: 'workspace', summary: 'Only those right below this one' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values: { parent, limit, cursor } }) {
    const parentId = parent === undefined ? undefined : await resolveWorkspace(cli, parent)
    const page = await cli.call(listWorkspaces, { query: given({ parentId, limit, cursor }) })
    showPage(cli.screen, page, {
      headings: ['WORKSPACE', 'SLUG', 'STATUS', 'NAME'],
      row: ({ id, slug, status, name }) => [id, slug, status, name],
      none: 'no workspaces',
    })
  },
})

const tree = command({
  name: 'workspace tree',
  summary: 'Show the workspaces as trees',
  options: { archived: { summary: 'Also those that are archived' } },
  async run({ call, screen }, { values: { archived } }) {
    const query = given({ includeArchived: archived ? ('true' as const) : undefined })
    const answer = await call(getWorkspaceTree, { query })
    screen.result(answer, () => {
      screen.table(
        ['WORKSPACE', 'NAME', 'ID'],
        answer.items.flatMap((node) => rows(node, 0)),
        'no workspaces',
      )
    })
  },
})

function rows({ slug, name, id, status, children }: WorkspaceNode, depth: number): string[][] {
  const label = `${'· '.repeat(depth)}${slug}${status === 'archived' ? ' (archived)' : ''}`
  return [[label, name, id], ...children.flatMap((child) => rows(child, depth + 1))]
}

const get = command({
  name: 'workspace get',
  args: '<workspace>',
  summary: 'Show a workspace',
  details: WORKSPACE_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const id = await resolveWorkspace(cli, ref)
    showWorkspace(cli.screen, await cli.call(getWorkspace, { params: { id } }))
  },
})

const update = command({
  name: 'workspace update',
  args: '<workspace>',
  summary: 'Change the name, the slug or the type of a workspace',
  details: WORKSPACE_ARGUMENT,
  options: {
    name: { value: 'name', summary: 'What people call it' },
    slug: { value: 'slug', summary: 'Its name in paths' },
    type: { ...TYPE_OPTION, summary: 'Its workspace type; "none" for none in particular' },
  },
  async run(cli, { positionals: [ref = ''], values: { name, slug, type } }) {
    const params = { id: await resolveWorkspace(cli, ref) }
    const { version } = await cli.call(getWorkspace, { params })
    const typeKey = type === 'none' ? null : type
    const body = given({ name, slug, typeKey })
    showWorkspace(cli.screen, await cli.call(updateWorkspace, { params, ifMatch: version, body }))
  },
})

const move = command({
  name: 'workspace move',
  args: '<workspace> <parent>',
  summary: 'Put a workspace and everything below it under another; "top" puts it at the top',
  details: WORKSPACE_ARGUMENT,
  async run(cli, { positionals: [ref = '', parent = ''] }) {
    const params = { id: await resolveWorkspace(cli, ref) }
    const parentId = parent === 'top' ? null : await resolveWorkspace(cli, parent)
    showWorkspace(cli.screen, await cli.call(moveWorkspace, { params, body: { parentId } }))
  },
})

const archive = command({
  name: 'workspace archive',
  args: '<workspace>',
  summary: 'Close a workspace whose children are closed already',
  details: WORKSPACE_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const params = { id: await resolveWorkspace(cli, ref) }
    const workspace = await cli.call(archiveWorkspace, { params })
    cli.screen.result(workspace, () => cli.screen.line(`Archived ${workspace.slug}`))
  },
})

function showWorkspace(screen: Screen, workspace: Workspace): void {
  screen.result(workspace, () => {
    screen.heading(workspace.name)
    screen.fields([
      ['id', workspace.id],
      ['slug', workspace.slug],
      ['status', workspace.status],
      ['type', workspace.typeKey],
      ['parent', workspace.parentId],
      ['version', workspace.version],
      ['created', workspace.createdAt],
    ])
  })
}

export const workspaceCommands = [create, list, tree, get, update, move, archive]
