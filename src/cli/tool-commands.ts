import { getTool, listTools } from '#contract/tools.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const list = command({
  name: 'tools list',
  args: '[words...]',
  summary: 'List what can be called here; with words, what mentions all of them',
  options: {
    workspace: WORKSPACE_OPTION,
    session: { value: 'id', summary: 'Session that would call (the newest live one)' },
    all: { summary: 'Also what cannot be called now, with the reasons' },
  },
  async run(cli, { positionals, values: { workspace, session, all } }) {
    const page = await cli.call(listTools, {
      query: given({
        q: positionals.length === 0 ? undefined : positionals.join(' '),
        workspaceId: await chosenWorkspace(cli, workspace),
        sessionId: session,
        includeUnavailable: all ? ('true' as const) : undefined,
      }),
    })
    cli.screen.result(page, () => {
      cli.screen.table(
        ['TOOL', 'VERSION', 'PROTOCOL', 'SIDE EFFECTS', all ? 'REASONS' : 'DESCRIPTION'],
        page.items.map((tool) => [
          tool.name,
          tool.version,
          tool.protocol,
          tool.sideEffects,
          all ? tool.reasons.join(', ') : tool.description,
        ]),
        'nothing can be called here',
      )
      if (page.nextCursor !== null) cli.screen.note('there are more: narrow them with words')
    })
  },
})

const describe = command({
  name: 'tools describe',
  args: '<tool>',
  summary: 'Show how a tool is called: what goes in, what comes out, what it needs',
  details: ['<tool> is an id, a name or name@version.'],
  options: { workspace: WORKSPACE_OPTION },
  async run(cli, { positionals: [ref = ''], values }) {
    const workspaceId = await chosenWorkspace(cli, values.workspace)
    const tool = await cli.call(getTool, { params: { ref }, query: given({ workspaceId }) })
    cli.screen.result(tool, () => {
      const { contract } = tool
      cli.screen.heading(`${tool.name}@${tool.version}`)
      cli.screen.fields([
        ['id', tool.id],
        ['status', tool.status],
        ['available', tool.available ? 'yes' : `no: ${tool.reasons.join(', ')}`],
        ['protocol', tool.protocol],
        ['side effects', tool.sideEffects],
        ['risk', tool.riskLevel],
        ['needs', contract.requiredPermissions.join(', ') || null],
        ['idempotency', contract.idempotency],
        ['timeout', `${contract.timeoutSeconds} s`],
        ['attempts', contract.retryPolicy.maxAttempts],
      ])
      if (tool.description !== '') cli.screen.block(tool.description)
      cli.screen.line(`inputs: ${JSON.stringify(contract.inputs)}`)
      cli.screen.line(`outputs: ${JSON.stringify(contract.outputs)}`)
    })
  },
})

export const toolCommands = [list, describe]
