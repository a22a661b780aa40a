import type { CallInput } from '#client/client.ts'
import {
  activateConfigRevision,
  createConfigRevision,
  listConfigRevisions,
} from '#contract/config-revisions.ts'
import {
  archiveProject,
  createProject,
  getProject,
  getProjectConfig,
  listProjects,
  listProjectTransitions,
  transitionProject,
} from '#contract/projects.ts'
import type { Project } from '#contract/projects.ts'
import { isUuid } from '#lib/id.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, jsonObject } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { readText } from './read-input.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const MAX_CONFIG_BYTES = 1 << 20

const PROJECT_ARGUMENT = [
  '<project> is the id of a project, or its workspace as slug or path of slugs such as shop/api.',
]

const list = command({
  name: 'project list',
  summary: 'List projects, newest first',
  options: {
    workspace: { value: 'workspace', summary: 'Only that of this workspace' },
    descendants: { summary: 'With --workspace: also those of the workspaces below it' },
    owner: { value: 'principal', summary: 'Only those of this owner' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values: { workspace, descendants, owner, limit, cursor } }) {
    const query = given({
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: descendants ? ('true' as const) : undefined,
      ownerPrincipalId: owner,
      limit,
      cursor,
    })
    showPage(cli.screen, await cli.call(listProjects, { query }), {
      headings: ['PROJECT', 'STATUS', 'REVISION', 'NAME'],
      row: (one) => [one.id, statusOf(one), String(one.activeRevision ?? '-'), one.name],
      none: 'no projects',
    })
  },
})

const get = command({
  name: 'project get',
  args: '<project>',
  summary: 'Show a project, and where its status can go',
  details: PROJECT_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const params = { id: await projectId(cli, ref) }
    const project = await cli.call(getProject, { params })
    const { items } = await cli.call(listProjectTransitions, { params })
    cli.screen.result({ ...project, transitions: items }, () => {
      showProject(cli, project)
      if (items.length === 0) return
      cli.screen.line(`can go to ${items.map(({ statusKey }) => statusKey).join(', ')}`)
    })
  },
})

const config = command({
  name: 'project config',
  args: '<project>',
  summary: 'Show what is in force for a project, and which layer set it',
  details: PROJECT_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const params = { id: await projectId(cli, ref) }
    const answer = await cli.call(getProjectConfig, { params })
    const { governance, ...rest } = answer.effectiveConfig
    const rules = Object.entries(governance).map(([key, value]) => [`governance.${key}`, value])
    const rows = [...rules, ...Object.entries(rest)] as [string, unknown][]
    cli.screen.result(answer, () => {
      cli.screen.table(
        ['KEY', 'VALUE', 'SET BY'],
        rows.map(([key, value]) => [
          key,
          typeof value === 'string' ? value : JSON.stringify(value),
          answer.configProvenance[key] ?? '-',
        ]),
        'nothing is in force',
      )
    })
  },
})

const create = command({
  name: 'project create',
  args: '<workspace>',
  summary: 'Make a workspace a project',
  options: {
    template: { value: 'key', summary: 'Template that it follows, in its newest version' },
    owner: { value: 'principal', summary: 'Id of who answers for it' },
    config: { value: 'file', summary: 'First configuration, a JSON file; - reads standard input' },
  },
  async run(cli, { positionals: [ref = ''], values: { template, owner, config: path } }) {
    const body = {
      workspaceId: await resolveWorkspace(cli, ref),
      ...given({
        templateKey: template,
        ownerPrincipalId: owner,
        config: path === undefined ? undefined : await configFrom(cli, path),
      }),
    }
    const project = await cli.call(createProject, { body })
    cli.screen.result(project, () => cli.screen.line(`Created project ${project.id}`))
  },
})

const transition = command({
  name: 'project transition',
  args: '<project> <status>',
  summary: 'Move a project to another status that its lifecycle leads to',
  details: PROJECT_ARGUMENT,
  options: { comment: { value: 'text', summary: 'Why' } },
  async run(cli, { positionals: [ref = '', statusKey = ''], values: { comment } }) {
    const params = { id: await projectId(cli, ref) }
    const { version } = await cli.call(getProject, { params })
    const body = { statusKey, ...given({ comment }) }
    const project = await cli.call(transitionProject, { params, ifMatch: version, body })
    cli.screen.result(project, () => showProject(cli, project))
  },
})

const archive = command({
  name: 'project archive',
  args: '<project>',
  summary: 'Close a project; its rules go on to hold',
  details: PROJECT_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const project = await cli.call(archiveProject, { params: { id: await projectId(cli, ref) } })
    cli.screen.result(project, () => cli.screen.line(`Archived project ${project.id}`))
  },
})

const revisions = command({
  name: 'project revisions',
  args: '<project>',
  summary: 'List the config revisions of a project, newest first',
  details: PROJECT_ARGUMENT,
  options: PAGE_OPTIONS,
  async run(cli, { positionals: [ref = ''], values: { limit, cursor } }) {
    const params = { id: await projectId(cli, ref) }
    const query = given({ limit, cursor })
    showPage(cli.screen, await cli.call(listConfigRevisions, { params, query }), {
      headings: ['REVISION', 'CREATED', 'COMMENT'],
      row: ({ revision, createdAt, comment }) => [String(revision), createdAt, comment ?? ''],
      none: 'no revisions',
    })
  },
})

const revise = command({
  name: 'project revise',
  args: '<project> <file>',
  summary: 'Write down a configuration from a JSON file; - reads standard input',
  details: [...PROJECT_ARGUMENT, 'Nothing changes until it is activated.'],
  options: {
    comment: { value: 'text', summary: 'Why' },
    activate: { summary: 'Put it in force at once' },
  },
  async run(cli, { positionals: [ref = '', path = ''], values: { comment, activate: now } }) {
    const params = { id: await projectId(cli, ref) }
    const body = { config: await configFrom(cli, path), ...given({ comment }) }
    const revision = await cli.call(createConfigRevision, { params, body })
    if (now) return await activateRevision(cli, params.id, String(revision.revision))
    cli.screen.result(revision, () => cli.screen.line(`Wrote revision ${revision.revision}`))
    cli.screen.note(`next: "control-plane project activate ${ref} ${revision.revision}"`)
  },
})

const activate = command({
  name: 'project activate',
  args: '<project> <revision>',
  summary: 'Put a config revision in force',
  details: PROJECT_ARGUMENT,
  run: async (cli, { positionals: [ref = '', revision = ''] }) =>
    await activateRevision(cli, await projectId(cli, ref), revision),
})

async function activateRevision(cli: Cli, id: string, revision: string): Promise<void> {
  const { version } = await cli.call(getProject, { params: { id } })
  const input = { params: { id, revision }, ifMatch: version }
  const project = await cli.call(activateConfigRevision, input)
  cli.screen.result(project, () => cli.screen.line(`Revision ${revision} is in force`))
}

/** The id of a project named by its id or its workspace. Throws `CliError` when that is no project. */
async function projectId(cli: Cli, ref: string): Promise<string> {
  if (isUuid(ref)) return ref
  const workspaceId = await resolveWorkspace(cli, ref)
  const { items } = await cli.call(listProjects, { query: { workspaceId, limit: '1' } })
  const [project] = items
  if (project) return project.id
  throw new CliError(`Workspace "${ref}" is no project`, {
    hint: '"control-plane project list" shows those there are',
  })
}

async function configFrom(cli: Cli, path: string) {
  const text = await readText(cli.io, path, MAX_CONFIG_BYTES)
  const value = jsonObject(text, path === '-' ? 'standard input' : path)
  // The server checks it and says where it is wrong.
  return value as NonNullable<CallInput<typeof createConfigRevision>['body']>['config']
}

function showProject({ screen }: Cli, project: Project): void {
  screen.heading(project.name)
  screen.fields([
    ['id', project.id],
    ['workspace', project.workspaceId],
    ['parent project', project.parentProjectId],
    ['status', statusOf(project)],
    ['template', project.templateKey && `${project.templateKey} ${project.templateVersion ?? ''}`],
    ['revision', project.activeRevision],
    ['owner', project.ownerPrincipalId],
    ['starts', project.startDate],
    ['ends', project.targetDate],
    ['version', project.version],
  ])
}

function statusOf({ status, statusKey, systemStatusCategory }: Project): string {
  const own = `${statusKey} (${systemStatusCategory})`
  return status === 'archived' ? `archived, ${own}` : own
}

export const projectCommands = [
  list,
  get,
  config,
  create,
  transition,
  archive,
  revisions,
  revise,
  activate,
]
