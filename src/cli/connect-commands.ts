import { resolve } from 'node:path'
import { connectGit, DEFAULT_MAX_COMMITS } from '#connectors/git/connect-git.ts'
import { describeReport } from '#connectors/git/describe-report.ts'
import { realClock } from '#connectors/target.ts'
import { CliError } from './cli-error.ts'
import { command } from './command.ts'
import { given, wholeNumber } from './option-values.ts'
import { createProgress } from './progress.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const git = command({
  name: 'connect git',
  args: '<path>',
  summary: 'Publish a git repository to memory: its commits, authors, files, tags and documents',
  details: [
    'Run again, it sends only what changed. Nothing is kept on this machine, nothing of the repository',
    'is run, no network is used but to the control plane. Safe to interrupt.',
  ],
  options: {
    workspace: WORKSPACE_OPTION,
    name: { value: 'name', summary: 'Name to publish it under (taken from its remote or folder)' },
    'max-commits': {
      value: 'count',
      summary: `Publish at most so many of the newest commits (${DEFAULT_MAX_COMMITS})`,
    },
    pack: { value: 'name', summary: 'Domain pack to check it against' },
    'with-emails': { summary: 'Publish e-mail addresses in clear' },
    replace: { summary: 'Take over a name under which another repository was published' },
    'dry-run': { summary: 'Read and compare, send nothing' },
  },
  async run(cli, { positionals: [path = ''], values }) {
    const workspaceId = await chosenWorkspace(cli, values.workspace)
    if (workspaceId === undefined) {
      throw new CliError('A repository is published to a workspace, and none is named', {
        hint: 'add --workspace; "control-plane workspace create <slug>" makes one',
      })
    }
    const { io, screen } = cli
    const progress = createProgress(io)
    try {
      const report = await connectGit(
        { path: resolve(io.cwd, path), env: io.env, signal: io.signal },
        {
          client: await cli.client(),
          workspaceId,
          signal: io.signal,
          clock: realClock,
          ...given({ pack: values.pack }),
        },
        {
          withEmails: values['with-emails'] === true,
          maxCommits: wholeNumber(values['max-commits'], '--max-commits') ?? DEFAULT_MAX_COMMITS,
          replace: values.replace === true,
          dryRun: values['dry-run'] === true,
          onProgress: ({ phase, done, total }) => progress.update(phase, done, total),
          ...given({ name: values.name }),
        },
      )
      progress.stop()
      screen.result(report, () => {
        for (const line of describeReport(report)) screen.line(line)
      })
    } finally {
      progress.stop()
    }
  },
})

export const connectCommands = [git]
