import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { startRun } from '#contract/runs.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import { claimedTask } from './work.ts'

type Report = NonNullable<CallInput<typeof reportUsage>['body']>

/** A run of a new claimed task of the caller, which tells what it uses. */
export async function spendingRun(
  client: ClientOptions,
  start: { model?: string; maxDurationSeconds?: number } = {},
) {
  const { task, claim, fence, session } = await claimedTask(client)
  const body = { ...fence, ...start }
  const run = await call(client, startRun, { params: { ref: task.id }, body })
  const params = { id: run.id }
  const { fencingToken } = fence
  return {
    run,
    task,
    claim,
    session,
    params,
    fencingToken,
    report: async (given: Omit<Report, 'fencingToken'>) =>
      await call(client, reportUsage, { params, body: { fencingToken, ...given } }),
  }
}
