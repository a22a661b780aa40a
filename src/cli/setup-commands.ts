import { getMe } from '#contract/org.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { PROJECT_FOLDER, repositoryRoot, writeProject } from './project.ts'
import type { ProjectConfig } from './project.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const init = command({
  name: 'init',
  summary: 'Connect this repository to a control plane',
  details: [
    `Writes ${PROJECT_FOLDER}/config.json at the root of the repository (outside of one, here): the`,
    'server, and what else is given. It holds no secret and is meant to be committed. What it says already is kept unless',
    'it is given again; changing the server needs --force.',
  ],
  options: {
    workspace: { value: 'workspace', summary: 'Workspace that commands here use by default' },
    project: { value: 'name', summary: 'Project this repository belongs to' },
    repository: { value: 'name', summary: 'Name of this repository' },
    tenant: { value: 'name', summary: 'Tenant on the server' },
    force: { summary: 'Put another server in place of the one that is there' },
  },
  async run(cli, { values }) {
    const { force = false, workspace, project, repository, tenant } = values
    const before = cli.project?.config ?? {}
    refuseOtherServer(cli, before, force)
    const config: ProjectConfig = {
      ...before,
      server: cli.server.origin,
      ...given({
        workspace: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
        project,
        repository,
        tenant,
      }),
    }
    const root = (await repositoryRoot(cli.io.cwd, cli.io.home)) ?? cli.io.cwd
    const file = await writeProject(root, config)
    cli.screen.result({ file, ...config }, () => cli.screen.line(`Wrote ${file}`))
    if ((await cli.credential()) === undefined) {
      cli.screen.note('next: "control-plane login" stores a key for this server')
    }
  },
})

/** Another server would make all later commands send their credential there. */
function refuseOtherServer(cli: Cli, before: ProjectConfig, force: boolean): void {
  if (force || before.server === undefined || before.server === cli.server.origin) return
  throw new CliError(`Cannot change ${cli.project?.file}: it names the server ${before.server}`, {
    hint: `--force puts ${cli.server.origin} in its place`,
  })
}

const whoami = command({
  name: 'whoami',
  summary: 'Show who the credential is, and what it allows',
  async run(cli) {
    const me = await cli.call(getMe)
    const credential = await cli.credential()
    const { principal, tenant, permissions, keyPrefix, iam, workspaceId } = me
    cli.screen.result({ server: cli.server.origin, credential: credential?.found, ...me }, () => {
      cli.screen.heading(`${principal.displayName} (${principal.kind})`)
      cli.screen.fields([
        ['principal', principal.id],
        ['tenant', `${tenant.slug} ${tenant.id}`],
        ['server', `${cli.server.origin} (${cli.server.named})`],
        ['credential', `${keyPrefix ?? ''} (${credential?.found ?? ''})`],
        ['identity', iam && `${iam.principalId} of ${iam.issuer}`],
        ['reach', workspaceId ? `workspace ${workspaceId} and below` : 'the whole tenant'],
        [
          'permissions',
          permissions.includes('admin') ? 'admin (everything)' : permissions.join(', '),
        ],
      ])
    })
  },
})

export const setupCommands = [init, whoami]
