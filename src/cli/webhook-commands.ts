import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listDeadLetters,
  listWebhooks,
  pauseWebhook,
  redriveDeadLetter,
  redriveDeadLetters,
  resumeWebhook,
  skipDeadLetter,
} from '#contract/webhooks.ts'
import type { Webhook } from '#contract/webhooks.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'
import type { Screen } from './screen.ts'

const create = command({
  name: 'webhook create',
  args: '<url>',
  summary: 'Tell an address of events; its secret is shown once, on standard output alone',
  options: {
    type: { value: 'prefix', repeat: true, summary: 'Only types such as task. or run.failed' },
    workspace: WORKSPACE_OPTION,
    after: { value: 'cursor', summary: 'Begin after this cursor instead of now' },
    description: { value: 'text', summary: 'What it is for' },
  },
  async run(cli, { positionals: [url = ''], values }) {
    const { type, after, description } = values
    const workspaceId = await chosenWorkspace(cli, values.workspace)
    const filter = given({ types: type && [...type] })
    const body = { url, filter, ...given({ workspaceId, after, description }) }
    const webhook = await cli.call(createWebhook, { body })
    cli.screen.result(webhook, () => {
      cli.screen.fields([
        ['id', webhook.id],
        ['secret', webhook.secret],
      ])
    })
    cli.screen.note('keep the secret: it is not shown again')
  },
})

const list = command({
  name: 'webhook list',
  summary: 'List webhooks, newest first',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { values: { limit, cursor } }) {
    const page = await call(listWebhooks, { query: given({ limit, cursor }) })
    showPage(screen, page, {
      headings: ['ID', 'STATUS', 'FAILURES', 'GIVEN UP', 'URL'],
      row: (one) => [one.id, one.status, String(one.failures), String(one.deadLetters), one.url],
      none: 'no webhooks',
    })
  },
})

const get = command({
  name: 'webhook get',
  args: '<id>',
  summary: 'Show a webhook, what holds it up, and the events that were given up',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const params = { id }
    const webhook = await call(getWebhook, { params })
    const letters = await call(listDeadLetters, { params, query: { limit: '200' } })
    screen.result({ ...webhook, letters: letters.items }, () => {
      show(screen, webhook)
      if (letters.items.length === 0) return
      screen.table(
        ['EVENT', 'TYPE', 'ATTEMPTS', 'ERROR'],
        letters.items.map((one) => [
          one.eventId,
          one.eventType,
          String(one.attempts),
          one.error ?? '',
        ]),
        '',
      )
    })
  },
})

const pause = command({
  name: 'webhook pause',
  args: '<id>',
  summary: 'Send nothing more to it until it is resumed',
  options: { reason: { value: 'text', summary: 'Why' } },
  async run({ call, screen }, { positionals: [id = ''], values }) {
    const body = given({ reason: values.reason })
    const webhook = await call(pauseWebhook, { params: { id }, body })
    screen.result(webhook, () => show(screen, webhook))
  },
})

const resume = command({
  name: 'webhook resume',
  args: '<id>',
  summary: 'Send to it again, from where it stands',
  options: { after: { value: 'cursor', summary: 'From after this cursor instead' } },
  async run({ call, screen }, { positionals: [id = ''], values }) {
    const body = given({ after: values.after })
    const webhook = await call(resumeWebhook, { params: { id }, body })
    screen.result(webhook, () => show(screen, webhook))
  },
})

const redrive = command({
  name: 'webhook redrive',
  args: '<id> [event]',
  summary: 'Try an event that was given up once more, or all of them',
  async run({ call, screen }, { positionals: [id = '', eventId] }) {
    const redriven =
      eventId === undefined
        ? (await call(redriveDeadLetters, { params: { id } })).redriven
        : Number((await call(redriveDeadLetter, { params: { id, eventId } })).redriving)
    screen.result({ redriven }, () => screen.line(`Trying ${redriven} again`))
  },
})

const skip = command({
  name: 'webhook skip',
  args: '<id> <event>',
  summary: 'Strike an event that was given up off the list',
  async run({ call, screen }, { positionals: [id = '', eventId = ''] }) {
    const letter = await call(skipDeadLetter, { params: { id, eventId } })
    screen.result(letter, () => screen.line(`Skipped ${letter.eventType} ${letter.eventId}`))
  },
})

const remove = command({
  name: 'webhook remove',
  args: '<id>',
  summary: 'Remove a webhook with its log',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const answer = await call(deleteWebhook, { params: { id } })
    screen.result(answer, () => screen.line(`Removed ${id}`))
  },
})

function show({ heading, fields }: Screen, webhook: Webhook): void {
  heading(`${webhook.url}: ${webhook.status}`)
  fields([
    ['id', webhook.id],
    ['paused because', webhook.pauseReason],
    ['owner', webhook.ownerId],
    ['workspace', webhook.workspaceId],
    ['types', webhook.filter.types?.join(', ') ?? null],
    ['cursor', webhook.cursor],
    ['failures', webhook.failures === 0 ? null : webhook.failures],
    ['last error', webhook.lastError],
    ['next attempt', webhook.nextAttemptAt],
    ['given up', webhook.deadLetters],
  ])
}

export const webhookCommands = [create, list, get, pause, resume, redrive, skip, remove]
