import { getJournalStatus } from '#contract/journal-operations.ts'
import { getAdapterStatus, redriveAdapter } from '#contract/operations.ts'
import type { AdapterStatus } from '#contract/operations.ts'
import { command } from './command.ts'
import { required } from './option-values.ts'
import type { Screen } from './screen.ts'

const status = command({
  name: 'ops adapter status',
  summary: 'Show where delivery of the journal to memory stands',
  async run({ call, screen }) {
    const answer = await call(getAdapterStatus)
    screen.result(answer, () => showStatus(screen, answer))
  },
})

const redrive = command({
  name: 'ops adapter redrive',
  args: '<tenant-id>',
  summary: 'Try the same event again at once, after its cause has been removed',
  options: { reason: { value: 'text', summary: 'Why; kept in the journal' } },
  async run({ call, screen }, { positionals: [tenantId = ''], values }) {
    const reason = required(values.reason, '--reason')
    const answer = await call(redriveAdapter, { params: { tenantId }, body: { reason } })
    screen.result(answer, () => showStatus(screen, answer))
  },
})

function showStatus({ heading, fields }: Screen, answer: AdapterStatus): void {
  const behind = `${answer.lagEvents}${answer.lagCapped ? '+' : ''} events`
  heading(`${answer.consumer}: ${answer.status}`)
  fields([
    ['tenant', answer.tenantId],
    ['behind', `${behind}, ${answer.lagSeconds.toFixed(1)} s`],
    ['delivered', `${answer.deliveredTotal} (${answer.duplicatesTotal} duplicates)`],
    ['failures', `${answer.failuresTotal}, ${answer.failureCount} in a row`],
    ['last delivery', answer.lastDeliveryAt ?? 'never'],
    ['cursor', answer.cursor],
    ['parked event', answer.parkedEventId],
    ['parked because', answer.parkedReason],
    ['last error', answer.lastError],
    ['next attempt', answer.nextAttemptAt],
  ])
}

const journal = command({
  name: 'ops journal status',
  summary: 'Show where the journal begins and ends, who reads it and what holds readers back',
  async run({ call, screen }) {
    const answer = await call(getJournalStatus)
    const { blocker } = answer
    screen.result(answer, () => {
      screen.fields([
        ['tenant', answer.tenantId],
        ['epoch', answer.journalEpoch],
        ['head', answer.headCursor],
        ['archived up to', answer.journalFloorCursor],
        ['gone up to', answer.archiveFloorCursor],
        ['held back', `${answer.horizonLagSeconds.toFixed(1)} s`],
        [
          'writing longest',
          blocker && `${blocker.kind} ${blocker.pid ?? ''} ${blocker.state ?? ''}`,
        ],
      ])
      screen.table(
        ['CONSUMER', 'STATUS', 'UPDATED', 'CURSOR'],
        answer.consumers.map((one) => [one.name, one.status, one.updatedAt, one.cursor]),
        'nobody reads it by name',
      )
    })
  },
})

export const opsCommands = [status, redrive, journal]
