import {
  failRun,
  getRun,
  listRuns,
  recordCheckpoint,
  startRun,
  succeedRun,
} from '#contract/runs.ts'
import type { Run } from '#contract/runs.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, requireFence, underClaim } from './held-claim.ts'
import { given, jsonObject, required, wholeNumber } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { claimOf, claimOfRun, forgetClaim, rememberedBy, rememberRun } from './remembered.ts'
import type { RememberedClaim } from './remembered.ts'

export const RUN_ARGUMENT = ['<run> is the id of a run, or a task whose run was started here.']
export const TOKEN_OPTION = {
  'fencing-token': { value: 'number', summary: 'Fencing token of the claim, if not known here' },
} as const

const start = command({
  name: 'run start',
  args: '<task>',
  summary: 'Start an attempt at a claimed task',
  options: {
    input: { value: 'json', summary: 'What the attempt begins with, a JSON object' },
    model: { value: 'name', summary: 'Model that does the work' },
    'max-duration': { value: 'seconds', summary: 'Limit of the attempt' },
    'max-tokens': { value: 'count', summary: 'Tokens that it may use' },
    'max-cost': { value: 'amount', summary: 'Money that it may cost' },
    ...FENCE_OPTIONS,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const fence = await requireFence(cli, ref, values)
    const body = {
      ...fence,
      ...given({
        input: jsonObject(values.input, '--input'),
        model: values.model,
        maxDurationSeconds: wholeNumber(values['max-duration'], '--max-duration'),
        maxTokens: wholeNumber(values['max-tokens'], '--max-tokens'),
        maxCost: values['max-cost'],
      }),
    }
    const run = await underClaim(cli, ref, () => cli.call(startRun, { params: { ref }, body }))
    await noteRun(cli, run, run.id)
    cli.screen.result(run, () => {
      cli.screen.line(`Started run ${run.id} of ${run.taskPublicId}, attempt ${run.attempt}`)
    })
  },
})

const checkpoint = command({
  name: 'run checkpoint',
  args: '<run>',
  summary: 'Record how far a run is, so that another can go on from there',
  details: RUN_ARGUMENT,
  options: {
    kind: { value: 'name', summary: 'What it records (progress)' },
    data: { value: 'json', summary: 'The record, a JSON object' },
    ...TOKEN_OPTION,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { id, taskRef, fencingToken } = await heldRun(cli, ref, values['fencing-token'])
    const data = jsonObject(required(values.data, '--data'), '--data') ?? {}
    const recorded = await underClaim(cli, taskRef, () =>
      cli.call(recordCheckpoint, {
        params: { id },
        body: { fencingToken, kind: values.kind ?? 'progress', data },
      }),
    )
    cli.screen.result(recorded, () =>
      cli.screen.line(`Checkpoint ${recorded.sequence} of run ${id}`),
    )
  },
})

const succeed = command({
  name: 'run succeed',
  args: '<run>',
  summary: 'End a run with success',
  details: RUN_ARGUMENT,
  options: {
    output: { value: 'json', summary: 'The result, a JSON object' },
    'complete-task': { summary: 'Complete the task and release its claim too' },
    ...TOKEN_OPTION,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { id, taskRef, fencingToken } = await heldRun(cli, ref, values['fencing-token'])
    const completeTask = values['complete-task'] === true
    const output = jsonObject(values.output, '--output')
    const run = await underClaim(cli, taskRef, () =>
      cli.call(succeedRun, {
        params: { id },
        body: { fencingToken, completeTask, ...given({ output }) },
      }),
    )
    if (completeTask) await forgetClaim(await rememberedBy(cli), run.taskId)
    else await noteRun(cli, run, null)
    cli.screen.result(run, () => {
      cli.screen.line(
        `Run ${run.id} succeeded${completeTask ? `, ${run.taskPublicId} completed` : ''}`,
      )
    })
  },
})

const fail = command({
  name: 'run fail',
  args: '<run>',
  summary: 'End a run without success; the task stays claimed',
  details: RUN_ARGUMENT,
  options: { reason: { value: 'text', summary: 'What went wrong' } },
  async run(cli, { positionals: [ref = ''], values }) {
    const { id } = await namedRun(cli, ref)
    const reason = required(values.reason, '--reason')
    const run = await cli.call(failRun, { params: { id }, body: { reason } })
    await noteRun(cli, run, null)
    cli.screen.result(run, () => cli.screen.line(`Run ${run.id} failed: ${run.reason ?? ''}`))
  },
})

const status = command({
  name: 'run status',
  args: '<run>',
  summary: 'Show a run',
  details: RUN_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const { id } = await namedRun(cli, ref)
    const run = await cli.call(getRun, { params: { id } })
    cli.screen.result(run, () => {
      cli.screen.heading(`Run ${run.id} of ${run.taskPublicId}, attempt ${run.attempt}`)
      cli.screen.fields([
        ['status', run.status],
        ['reason', run.reason],
        ['model', run.model],
        ['tokens', run.usage.totalTokens],
        ['cost', run.usage.cost],
        ['tokens left', run.tokensLeft],
        ['money left', run.costLeft],
        ['started', run.startedAt],
        ['finished', run.finishedAt],
      ])
    })
  },
})

const list = command({
  name: 'run list',
  summary: 'List runs, newest first',
  options: { task: { value: 'task', summary: 'Only those of this task' }, ...PAGE_OPTIONS },
  async run(cli, { values: { task, limit, cursor } }) {
    const page = await cli.call(listRuns, { query: given({ taskId: task, limit, cursor }) })
    showPage(cli.screen, page, {
      headings: ['RUN', 'TASK', 'ATTEMPT', 'STATUS', 'STARTED'],
      row: (run) => [run.id, run.taskPublicId, String(run.attempt), run.status, run.startedAt],
      none: 'no runs',
    })
  },
})

interface NamedRun {
  id: string
  claim: RememberedClaim | undefined
}

/** A run by its id, or by a task whose run was started here. */
export async function namedRun(cli: Cli, ref: string): Promise<NamedRun> {
  const remembered = await rememberedBy(cli)
  const ofTask = await claimOf(remembered, ref)
  if (ofTask?.runId) return { id: ofTask.runId, claim: ofTask }
  if (ofTask === undefined && !/^TASK-/i.test(ref)) {
    return { id: ref, claim: await claimOfRun(remembered, ref) }
  }
  throw new CliError(`No run of ${ref} is known here`, {
    hint: `"control-plane run start ${ref}" starts one`,
  })
}

/** The same with the token that a write needs. */
export async function heldRun(cli: Cli, ref: string, tokenOption: string | undefined) {
  const { id, claim } = await namedRun(cli, ref)
  const fencingToken = wholeNumber(tokenOption, '--fencing-token') ?? claim?.fencingToken
  if (fencingToken === undefined) {
    throw new CliError(`No claim of run ${id} is known here`, { hint: 'add --fencing-token' })
  }
  return { id, taskRef: claim?.taskId ?? ref, fencingToken }
}

export async function noteRun(cli: Cli, run: Run, runId: string | null): Promise<void> {
  const remembered = await rememberedBy(cli)
  const claim = await claimOf(remembered, run.taskId)
  if (claim?.claimId === run.claimId) await rememberRun(remembered, claim, runId)
}

export const runCommands = [start, checkpoint, succeed, fail, status, list]
