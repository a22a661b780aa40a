import { randomBytes } from 'node:crypto'
import { getContext, STRATEGIES } from '#contract/context.ts'
import type { ContextReply } from '#contract/context.ts'
import { contextBudget } from '#prompt/context-budget.ts'
import { recallLine, recallSections } from '#prompt/recall.ts'
import { renderContext } from '#prompt/render-context.ts'
import { CliError } from './cli-error.ts'
import { command } from './command.ts'
import { given, oneOf, wholeNumber } from './option-values.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'
import type { Screen } from './screen.ts'

const context = command({
  name: 'context',
  args: '[query...]',
  summary: 'Show what is true now and what memory recalls about it',
  details: [
    'With --json the whole answer, with --prompt the section that an agent finds in its prompt (at most',
    'CONTROL_PLANE_CONTEXT_BUDGET_CHARS characters, 12000 unless set).',
  ],
  options: {
    task: { value: 'task', summary: 'Task in focus' },
    run: { value: 'id', summary: 'Run in focus' },
    workspace: WORKSPACE_OPTION,
    'max-tokens': { value: 'count', summary: 'Budget of what memory answers' },
    strategy: { value: 'name', summary: STRATEGIES.join(', ') },
    anchor: { value: 'type:key', repeat: true, summary: 'Hint such as service:payments' },
    'as-of': { value: 'time', summary: 'Ask memory about this moment' },
    'no-memory': { summary: 'Only what is true now' },
    prompt: { summary: 'Print the section of the prompt' },
  },
  async run(cli, { positionals, values }) {
    const { task, run, anchor, prompt = false } = values
    if (prompt && cli.screen.json) throw new CliError('--prompt and --json do not go together')
    const isPlaced = task !== undefined || run !== undefined
    const workspaceId =
      isPlaced && values.workspace === undefined
        ? undefined
        : await chosenWorkspace(cli, values.workspace)
    const reply = await cli.call(getContext, {
      body: {
        query: positionals.join(' '),
        includeMemory: values['no-memory'] !== true,
        ...given({
          task,
          runId: run,
          workspaceId,
          maxTokens: wholeNumber(values['max-tokens'], '--max-tokens'),
          strategy: oneOf(values.strategy, STRATEGIES, '--strategy'),
          anchors: anchor === undefined ? undefined : [...anchor],
          asOf: values['as-of'],
        }),
      },
    })
    if (prompt) cli.screen.block(renderSection(reply, cli.io.env))
    else cli.screen.result(reply, () => showContext(cli.screen, reply))
  },
})

/** A new nonce each time, so that nothing remembered can name the end of the section. */
function renderSection(
  reply: ContextReply,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const budgetChars = contextBudget(env['CONTROL_PLANE_CONTEXT_BUDGET_CHARS'])
  return renderContext(reply, { budgetChars, nonce: randomBytes(8).toString('hex') })
}

function showContext(screen: Screen, reply: ContextReply): void {
  const { principal, tenant } = reply.operational
  screen.heading(`${principal.displayName} (${principal.kind}) in ${tenant.slug}`)
  screen.fields([...operationalFields(reply), ['memory', memoryLine(reply)]])
  for (const { kind, items } of reply.memory === null ? [] : recallSections(reply.memory)) {
    const lines = items.map(recallLine).filter((line) => line !== undefined)
    if (lines.length === 0) continue
    screen.line('')
    screen.heading(kind)
    for (const line of lines) screen.line(line)
  }
  for (const warning of reply.warnings) screen.warn(`warning: ${warning}`)
}

function operationalFields({ operational }: ContextReply): [string, string][] {
  const { focus, activeClaims, activeRuns, pendingApprovals } = operational
  const tasks = focus.task === null ? [] : [focus.task]
  return [
    ...tasks.map(({ publicId, title, status, priority }): [string, string] => [
      'task',
      `${publicId} ${title} [${status}, ${priority}]`,
    ]),
    ...focus.artifacts.map(({ name, type }): [string, string] => ['artifact', `${name} (${type})`]),
    ...activeClaims.map(({ taskPublicId, taskTitle, expiresAt }): [string, string] => [
      'claim',
      `${taskPublicId} ${taskTitle}, until ${expiresAt}`,
    ]),
    ...activeRuns.map(({ id, taskPublicId, attempt }): [string, string] => [
      'run',
      `${id} of ${taskPublicId}, attempt ${attempt}`,
    ]),
    ...pendingApprovals.map(({ id, comment }): [string, string] => [
      'approval',
      `${id} ${comment ?? ''}`,
    ]),
  ]
}

/** What memory could say, and how far it has been told. */
function memoryLine({ memoryStatus, freshness }: ContextReply): string {
  const {
    memoryLagEvents: lag,
    memoryLagCapped: isCapped,
    memoryLagSeconds,
    memoryIngest,
  } = freshness
  const age = (memoryLagSeconds ?? 0).toFixed(1)
  const behind = lag === null ? '' : `, ${lag}${isCapped ? '+' : ''} events behind (${age} s)`
  const hasTrouble = memoryIngest !== null && memoryIngest.status !== 'ok'
  return `${memoryStatus}${behind}${hasTrouble ? `, delivery ${memoryIngest.status}` : ''}`
}

export const contextCommands = [context]
