import type { Spent } from '#contract/spent.ts'
import { getRunUsage } from '#contract/usage-reports.ts'
import { getUsage, USAGE_GROUPS } from '#contract/usage-totals.ts'
import type { UsageTotal } from '#contract/usage-totals.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, oneOf } from './option-values.ts'
import { resolveWorkspace } from './resolve-workspace.ts'
import { namedRun } from './run-commands.ts'

const HEADINGS = ['TOKENS', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'REASONING', 'COST']

const usage = command({
  name: 'usage',
  summary:
    'Show what was used and what it cost: in all, by agent, project, model or period, or of a run',
  options: {
    by: { value: 'group', summary: `Kept apart by ${USAGE_GROUPS.join(', ')}` },
    run: { value: 'run', summary: 'Of a run, or of a task whose run was started here; by model' },
    agent: { value: 'principal', summary: 'Only of this principal, by id' },
    project: { value: 'project', summary: 'Only of this project, by id' },
    subprojects: { summary: 'With the projects below' },
    workspace: { value: 'workspace', summary: 'Only of this workspace: id, slug or path of slugs' },
    below: { summary: 'With the workspaces below' },
    provider: { value: 'name', summary: 'Only of this provider' },
    model: { value: 'name', summary: 'Only of this model' },
    from: { value: 'day', summary: 'From this day on, YYYY-MM-DD' },
    to: { value: 'day', summary: 'Up to this day' },
    limit: { value: 'count', summary: 'At most so many sums, 1 to 200 (50)' },
    cursor: { value: 'cursor', summary: 'Go on after an earlier page' },
  },
  async run(cli, { values }) {
    const { run, by, agent, project, subprojects, workspace, below, ...rest } = values
    const { provider, model, from, to, limit, cursor } = rest
    if (run !== undefined) {
      const narrowed = [by, agent, project, workspace, provider, model, from, to]
      if (narrowed.every((value) => value === undefined)) return await showRun(cli, run)
      throw new CliError('--run shows the whole run: leave out what narrows sums')
    }
    const groupBy = oneOf(by, USAGE_GROUPS, '--by')
    const query = given({
      groupBy,
      principalId: agent,
      projectId: project,
      includeSubprojects: subprojects ? ('true' as const) : undefined,
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: below ? ('true' as const) : undefined,
      provider,
      model,
      from,
      to,
      limit,
      cursor,
    })
    const page = await cli.call(getUsage, { query })
    cli.screen.result(page, () => {
      cli.screen.table(
        [(groupBy ?? 'all').toUpperCase(), ...HEADINGS],
        page.items.map((total) => [nameOf(total), ...spentCells(total)]),
        'nothing was used',
      )
      tellUnpriced(cli, page.items)
      if (page.nextCursor !== null) cli.screen.note(`more: --cursor ${page.nextCursor}`)
    })
  },
})

function nameOf({ provider, model, ...total }: UsageTotal): string {
  if (model !== undefined) return modelName({ provider: provider ?? null, model })
  const [key] = [
    total.principalId,
    total.projectId,
    total.workspaceId,
    total.day,
    total.month,
  ].filter((value) => value !== undefined)
  return key === null ? '(none)' : (key ?? '')
}

function modelName({ provider, model }: { provider: string | null; model: string }): string {
  return provider === null ? model : `${provider} ${model}`
}

function spentCells({ tokens, totalTokens, cost, currency }: Spent): string[] {
  const { input, output, cacheRead, cacheWrite, reasoning } = tokens
  const counts = [totalTokens, input, output, cacheRead, cacheWrite, reasoning]
  return [...counts.map(String), cost === null ? '-' : `${cost} ${currency ?? ''}`.trim()]
}

function tellUnpriced({ screen }: Cli, sums: readonly Spent[]): void {
  const unpriced = sums.reduce((sum, { unpricedTokens }) => sum + unpricedTokens, 0)
  if (unpriced > 0) screen.note(`no price is known for ${unpriced} of the tokens`)
}

async function showRun(cli: Cli, ref: string): Promise<void> {
  const { id } = await namedRun(cli, ref)
  const run = await cli.call(getRunUsage, { params: { id } })
  cli.screen.result(run, () => {
    cli.screen.table(
      ['MODEL', ...HEADINGS],
      [
        ...run.byModel.map((one) => [modelName(one), ...spentCells(one)]),
        ...(run.byModel.length > 1 ? [['all', ...spentCells(run.usage)]] : []),
      ],
      'nothing was reported yet',
    )
    tellUnpriced(cli, [run.usage])
    const { maxTokens, tokensLeft, maxCost, costLeft } = run
    if (maxTokens !== null) cli.screen.note(`tokens left: ${tokensLeft} of ${maxTokens}`)
    if (maxCost !== null) cli.screen.note(`money left: ${costLeft} of ${maxCost}`)
  })
}

export const usageCommands = [usage]
