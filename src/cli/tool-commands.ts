import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { getInvocation, invokeSkill } from '#contract/skill-invocations.ts'
import type { SkillInvocation } from '#contract/skill-invocations.ts'
import { getTask } from '#contract/tasks.ts'
import { getTool, listTools } from '#contract/tools.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { underClaim } from './held-claim.ts'
import { given, jsonObject, wholeNumber } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { claimOf, rememberedBy } from './remembered.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const list = command({
  name: 'tools list',
  args: '[words...]',
  summary: 'List what can be called here; with words, what mentions all of them',
  options: {
    workspace: WORKSPACE_OPTION,
    session: { value: 'id', summary: 'Session that would call (the newest live one)' },
    all: { summary: 'Also what cannot be called now, with the reasons' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { positionals, values: { workspace, session, all, limit, cursor } }) {
    const page = await cli.call(listTools, {
      query: given({
        q: positionals.length === 0 ? undefined : positionals.join(' '),
        workspaceId: await chosenWorkspace(cli, workspace),
        sessionId: session,
        includeUnavailable: all ? ('true' as const) : undefined,
        limit,
        cursor,
      }),
    })
    showPage(cli.screen, page, {
      headings: ['TOOL', 'VERSION', 'PROTOCOL', 'SIDE EFFECTS', all ? 'REASONS' : 'DESCRIPTION'],
      row: (tool) => [
        tool.name,
        tool.version,
        tool.protocol,
        tool.sideEffects,
        all ? tool.reasons.join(', ') : tool.description,
      ],
      none: 'nothing can be called here',
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

const MAX_WAIT_SECONDS = 120
const POLL_MS = 500

const invoke = command({
  name: 'tools invoke',
  args: '<tool>',
  summary: 'Call a tool; an executor does the work',
  details: [
    '<tool> is an id, a name or name@version. With --task the call is for the run that "run start" began here.',
    'The call stays whether or not it is waited for; --json tells its id and what became of it.',
  ],
  options: {
    input: { value: 'json', summary: 'What goes in, a JSON object' },
    task: { value: 'task', summary: 'Task whose run it is for' },
    approval: { value: 'id', summary: 'With --task: the approval that a tool which writes needs' },
    workspace: WORKSPACE_OPTION,
    key: { value: 'key', summary: 'Idempotency-Key: the same again finds the same call' },
    wait: { value: 'seconds', summary: `Wait for the end, at most ${MAX_WAIT_SECONDS} (0)` },
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { task, approval, key = randomUUID() } = values
    const seconds = Math.min(wholeNumber(values.wait, '--wait') ?? 0, MAX_WAIT_SECONDS)
    const inputs = jsonObject(values.input, '--input') ?? {}
    const place = await placeOf(cli, task, values.workspace)
    const { tool: query, call: where } = place
    const { id } = await cli.call(getTool, { params: { ref }, query })
    const body = { inputs, ...where, ...given({ approvalId: approval }) }
    const invoked = await underClaim(cli, task ?? '', () =>
      cli.call(invokeSkill, { params: { id }, idempotencyKey: key, body }),
    )
    const call = await waitFor(cli, invoked, seconds)
    cli.screen.result(call, () => {
      cli.screen.line(`${call.skillName}@${call.skillVersion} ${call.status} ${call.id}`)
      if (call.outputs) cli.screen.line(JSON.stringify(call.outputs))
      if (call.error) cli.screen.line(`${call.error.code}: ${call.error.message}`)
    })
  },
})

/** Where a call is made: for the run of a task that is remembered here, or in a workspace. */
async function placeOf(cli: Cli, task: string | undefined, workspace: string | undefined) {
  if (task === undefined) {
    const at = given({ workspaceId: await chosenWorkspace(cli, workspace) })
    return { tool: at, call: at }
  }
  const claim = await claimOf(await rememberedBy(cli), task)
  if (!claim?.runId) {
    throw new CliError(`No run of ${task} is known here`, {
      hint: `"control-plane run start ${task}" starts one`,
    })
  }
  const { workspaceId } = await cli.call(getTask, { params: { ref: task } })
  const { runId, fencingToken } = claim
  return { tool: given({ workspaceId: workspaceId ?? undefined }), call: { runId, fencingToken } }
}

async function waitFor(
  cli: Cli,
  invoked: SkillInvocation,
  seconds: number,
): Promise<SkillInvocation> {
  const until = Date.now() + seconds * 1000
  let call = invoked
  while ((call.status === 'pending' || call.status === 'running') && Date.now() < until) {
    await setTimeout(POLL_MS, undefined, { signal: cli.io.signal })
    call = await cli.call(getInvocation, { params: { id: invoked.id } })
  }
  return call
}

export const toolCommands = [list, describe, invoke]
