import type { CallInput } from '#client/client.ts'
import {
  getPrincipalBudget,
  getProjectBudget,
  spendingBounds,
  updatePrincipalBudget,
} from '#contract/budgets.ts'
import type { CapState, SpendingBounds } from '#contract/budgets.ts'
import { getMe } from '#contract/org.ts'
import { createPriceTable, getPriceTable } from '#contract/price-tables.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { jsonObject } from './option-values.ts'
import { readText } from './read-input.ts'

const MAX_PRICES_BYTES = 1 << 20

const showPrices = command({
  name: 'prices show',
  args: '[version]',
  summary: 'Show the prices in force, or a version of them',
  async run({ call, screen }, { positionals: [version = 'current'] }) {
    const table = await call(getPriceTable, { params: { version } })
    screen.result(table, () => {
      screen.heading(`Version ${table.version}, ${table.currency} per million tokens`)
      screen.table(
        ['PROVIDER', 'MODEL', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'REASONING'],
        table.entries.map((one) => [
          one.provider ?? '*',
          one.model,
          one.input,
          one.output,
          one.cacheRead ?? '-',
          one.cacheWrite ?? '-',
          one.reasoning,
        ]),
        'no prices',
      )
    })
  },
})

const setPrices = command({
  name: 'prices set',
  args: '<file>',
  summary: 'Set prices from a JSON file from now on; - reads standard input',
  details: [
    'The file holds currency, entries and, if wanted, effectiveFrom and comment, as POST /price-tables',
    'takes them. Costs recorded before stay as they are.',
  ],
  async run(cli, { positionals: [path = ''] }) {
    const text = await readText(cli.io, path, MAX_PRICES_BYTES)
    const body = jsonObject(text, path === '-' ? 'standard input' : path)
    const table = await cli.call(createPriceTable, {
      // The server checks it and says where it is wrong.
      body: body as CallInput<typeof createPriceTable>['body'] & object,
    })
    cli.screen.result(table, () => {
      cli.screen.line(`Version ${table.version} holds from ${table.effectiveFrom} on`)
    })
  },
})

const showBudget = command({
  name: 'budget show',
  args: '[principal]',
  summary: 'Show the budget of a principal, one’s own unless named, or of a project',
  options: { project: { value: 'project', summary: 'Of this project, by id' } },
  async run(cli, { positionals: [principal], values: { project } }) {
    if (project !== undefined && principal !== undefined) {
      throw new CliError('Name a principal or --project, not both')
    }
    const answer =
      project === undefined
        ? await cli.call(getPrincipalBudget, { params: { id: principal ?? (await myId(cli)) } })
        : await cli.call(getProjectBudget, { params: { id: project } })
    cli.screen.result(answer, () => showBounds(cli, answer))
  },
})

const BOUNDS = {
  'max-run-tokens': 'maxRunTokens',
  'max-run-cost': 'maxRunCost',
  'max-month-tokens': 'maxMonthTokens',
  'max-month-cost': 'maxMonthCost',
  'max-total-tokens': 'maxTotalTokens',
  'max-total-cost': 'maxTotalCost',
} as const satisfies Record<string, keyof SpendingBounds>

const setBudget = command({
  name: 'budget set',
  args: '<principal>',
  summary: 'Bound what a principal may use; "none" lifts a bound',
  options: {
    'max-run-tokens': { value: 'count', summary: 'Tokens of each run' },
    'max-run-cost': { value: 'amount', summary: 'Money of each run' },
    'max-month-tokens': { value: 'count', summary: 'Tokens in a month' },
    'max-month-cost': { value: 'amount', summary: 'Money in a month' },
    'max-total-tokens': { value: 'count', summary: 'Tokens in all' },
    'max-total-cost': { value: 'amount', summary: 'Money in all' },
  },
  async run(cli, { positionals: [id = ''], values }) {
    const body = Object.fromEntries(
      Object.entries(BOUNDS).flatMap(([option, name]) => {
        const text = values[option as keyof typeof BOUNDS]
        return text === undefined ? [] : [[name, boundOf(name, text, `--${option}`)]]
      }),
    )
    const { version } = await cli.call(getPrincipalBudget, { params: { id } })
    const input = { params: { id }, ifMatch: version, body }
    const answer = await cli.call(updatePrincipalBudget, input)
    cli.screen.result(answer, () => showBounds(cli, answer))
  },
})

/** A bound as the server takes it, judged here by the same rule. */
function boundOf(name: keyof SpendingBounds, text: string, option: string): unknown {
  if (text === 'none') return null
  const value = name.endsWith('Tokens') && /^\d{1,16}$/.test(text) ? Number(text) : text
  const result = spendingBounds[name].safeParse(value)
  if (result.success) return result.data
  const kind = name.endsWith('Tokens') ? 'a whole number' : 'an amount such as 12.50'
  throw new CliError(`${option} must be ${kind}, or none`)
}

async function myId({ call }: Cli): Promise<string> {
  return (await call(getMe)).principal.id
}

function showBounds(
  { screen }: Cli,
  { budget, caps }: { budget: SpendingBounds; caps: readonly CapState[] },
): void {
  const { maxRunTokens, maxRunCost } = budget
  screen.fields([
    ['tokens of each run', maxRunTokens],
    ['money of each run', maxRunCost],
  ])
  screen.table(
    ['BOUND', 'OF', 'LIMIT', 'USED', 'RESERVED', 'LEFT'],
    caps.map(({ budget: name, scope, projectId, principalId, ...state }) => [
      name,
      `${scope} ${projectId ?? principalId ?? ''}`,
      ...[state.limit, state.used, state.reserved, state.left].map(String),
    ]),
    'no bound over all runs',
  )
}

export const budgetCommands = [showPrices, setPrices, showBudget, setBudget]
