import { randomUUID } from 'node:crypto'
import {
  CONTROL_KINDS,
  listControlMessages,
  sendControlMessage,
} from '#contract/control-messages.ts'
import { getRunContext } from '#contract/run-context.ts'
import type { RunContext } from '#contract/run-context.ts'
import { handOffRun, requestCancel, suspendRun } from '#contract/run-stops.ts'
import { cancelRun, getRun } from '#contract/runs.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { underClaim } from './held-claim.ts'
import { given, oneOf, required } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { forgetClaim, rememberedBy } from './remembered.ts'
import { heldRun, namedRun, noteRun, RUN_ARGUMENT, TOKEN_OPTION } from './run-commands.ts'

const cancel = command({
  name: 'run cancel',
  args: '<run>',
  summary: 'Cancel a run of mine; the task stays claimed',
  details: RUN_ARGUMENT,
  options: { reason: { value: 'text', summary: 'Why' } },
  async run(cli, { positionals: [ref = ''], values: { reason } }) {
    const { id } = await namedRun(cli, ref)
    const run = await cli.call(cancelRun, { params: { id }, body: given({ reason }) })
    await noteRun(cli, run, null)
    cli.screen.result(run, () => cli.screen.line(`Run ${run.id} ${run.status}`))
  },
})

const ask = command({
  name: 'run request-cancel',
  args: '<run>',
  summary: 'Ask the holder of a run to stop it',
  details: RUN_ARGUMENT,
  options: { reason: { value: 'text', summary: 'Why' } },
  async run(cli, { positionals: [ref = ''], values: { reason } }) {
    const { id } = await namedRun(cli, ref)
    const run = await cli.call(requestCancel, { params: { id }, body: given({ reason }) })
    cli.screen.result(run, () => cli.screen.line(`Asked the holder of run ${run.id} to stop`))
  },
})

const suspend = command({
  name: 'run suspend',
  args: '<run>',
  summary: 'Stop a run that cannot go on now; its claim is released',
  details: RUN_ARGUMENT,
  options: {
    reason: { value: 'text', summary: 'What it waits for' },
    approval: { value: 'approval', summary: 'Id of the approval that it waits for' },
    ...TOKEN_OPTION,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { id, taskRef, fencingToken } = await heldRun(cli, ref, values['fencing-token'])
    const reason = required(values.reason, '--reason')
    const body = { fencingToken, reason, ...given({ waitingForApprovalId: values.approval }) }
    const run = await underClaim(cli, taskRef, () => cli.call(suspendRun, { params: { id }, body }))
    await forgetClaim(await rememberedBy(cli), run.taskId)
    cli.screen.result(run, () => cli.screen.line(`Run ${run.id} suspended: ${reason}`))
  },
})

const handOff = command({
  name: 'run handoff',
  args: '<run>',
  summary: 'Hand a task over with a last checkpoint for whoever takes it up',
  details: RUN_ARGUMENT,
  options: {
    summary: { value: 'text', summary: 'How far it is' },
    next: { value: 'text', repeat: true, summary: 'What is to be done next' },
    evidence: { value: 'text', repeat: true, summary: 'What supports it: a link, an id' },
    ...TOKEN_OPTION,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { id, taskRef, fencingToken } = await heldRun(cli, ref, values['fencing-token'])
    const summary = required(values.summary, '--summary')
    const { next = [], evidence = [] } = values
    const data = { summary, nextSteps: [...next], evidenceRefs: [...evidence] }
    const handoff = await underClaim(cli, taskRef, () =>
      cli.call(handOffRun, {
        params: { id },
        body: { fencingToken, checkpoint: { data } },
        idempotencyKey: randomUUID(),
      }),
    )
    await forgetClaim(await rememberedBy(cli), handoff.run.taskId)
    cli.screen.result(handoff, () => {
      cli.screen.line(
        `Handed over ${handoff.task.publicId}; attempt ${handoff.resume.nextAttempt} is next`,
      )
    })
  },
})

const send = command({
  name: 'run send',
  args: '<run> <kind> [text...]',
  summary: `Say something to a run while it works: ${CONTROL_KINDS.join(', ')}`,
  details: RUN_ARGUMENT,
  async run(cli, { positionals: [ref = '', word, ...words] }) {
    const kind = oneOf(required(word, '<kind>'), CONTROL_KINDS, '<kind>') ?? 'queue'
    const { id } = await namedRun(cli, ref)
    const { version } = await cli.call(getRun, { params: { id } })
    const message = words.length === 0 ? undefined : words.join(' ')
    const sent = await cli.call(sendControlMessage, {
      params: { id },
      body: { kind, expectedRunVersion: version, ...given({ message }) },
      idempotencyKey: randomUUID(),
    })
    cli.screen.result(sent, () => cli.screen.line(`Message ${sent.sequence} ${sent.status}`))
  },
})

const messages = command({
  name: 'run messages',
  args: '<run>',
  summary: 'List what was said to a run and what became of it, oldest first',
  details: RUN_ARGUMENT,
  options: PAGE_OPTIONS,
  async run(cli, { positionals: [ref = ''], values: { limit, cursor } }) {
    const { id } = await namedRun(cli, ref)
    const query = given({ limit, cursor })
    showPage(cli.screen, await cli.call(listControlMessages, { params: { id }, query }), {
      headings: ['NUMBER', 'KIND', 'STATUS', 'TEXT'],
      row: (one) => [String(one.sequence), one.kind, one.status, one.message ?? ''],
      none: 'no messages',
    })
  },
})

const context = command({
  name: 'run context',
  args: '<run>',
  summary: 'Show what a run goes by: earlier checkpoints, inputs, messages, instructions',
  details: RUN_ARGUMENT,
  async run(cli, { positionals: [ref = ''] }) {
    const { id } = await namedRun(cli, ref)
    const answer = await cli.call(getRunContext, { params: { id } })
    cli.screen.result(answer, () => showContext(cli, answer))
  },
})

function showContext({ screen }: Cli, answer: RunContext): void {
  const { run, task, claim, checkpoints, inputs, pendingControlMessages, instructions } = answer
  screen.heading(`Run ${run.id} of ${task.publicId} ${task.title}, attempt ${run.attempt}`)
  screen.fields([
    ['status', run.status],
    ['claim', `${claim.status} until ${claim.expiresAt}`],
    ['checkpoints', checkpoints.length],
    ['messages', pendingControlMessages.length],
    ['approvals', answer.pendingApprovals.length],
    ['children', answer.childHandles.length],
  ])
  for (const { attempt, kind, data } of checkpoints) {
    screen.line(`checkpoint of attempt ${attempt}, ${kind}: ${JSON.stringify(data)}`)
  }
  for (const { type, name, artifactId } of inputs)
    screen.line(`input ${type} ${name} ${artifactId}`)
  for (const { kind, message } of pendingControlMessages) screen.line(`${kind}: ${message ?? ''}`)
  for (const { text } of instructions.layers) screen.block(text)
}

export const runControlCommands = [cancel, ask, suspend, handOff, send, messages, context]
