import { createWorkspace, getWorkspaceTree, listWorkspaces } from '#contract/workspaces.ts'
import type { WorkspaceNode } from '#contract/workspaces.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const create = command({
  name: 'workspace create',
  args: '<slug>',
  summary: 'Create a workspace at the top or under another',
  options: {
    name: { value: 'name', summary: 'What people call it (the slug)' },
    parent: { value: 'workspace', summary: 'Id, slug or path of the workspace above it' },
  },
  async run(cli, { positionals: [slug = ''], values: { name = slug, parent } }) {
    const parentId = parent === undefined ? null : await resolveWorkspace(cli, parent)
    const workspace = await cli.call(createWorkspace, { body: { slug, name, parentId } })
    cli.screen.result(workspace, () => cli.screen.line(`Created workspace ${slug} ${workspace.id}`))
  },
})

const list = command({
  name: 'workspace list',
  summary: 'List workspaces, newest first',
  options: {
    parent: { value: 'workspace', summary: 'Only those right below this one' },
    limit: { value: 'count', summary: 'At most so many, 1 to 200 (50)' },
    cursor: { value: 'cursor', summary: 'Go on after an earlier page' },
  },
  async run(cli, { values: { parent, limit, cursor } }) {
    const parentId = parent === undefined ? undefined : await resolveWorkspace(cli, parent)
    const page = await cli.call(listWorkspaces, { query: given({ parentId, limit, cursor }) })
    const { screen } = cli
    screen.result(page, () => {
      screen.table(
        ['WORKSPACE', 'SLUG', 'STATUS', 'NAME'],
        page.items.map(({ id, slug, status, name }) => [id, slug, status, name]),
        'no workspaces',
      )
      if (page.nextCursor !== null) screen.note(`more: --cursor ${page.nextCursor}`)
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

export const workspaceCommands = [create, list, tree]
