import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { getProjectBudget } from '#contract/budgets.ts'
import type { SpendingBounds } from '#contract/budgets.ts'
import { startRun } from '#contract/runs.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import type { Database } from '#db/sql.ts'
import { projectsOf } from './projects.ts'
import { claimedTask } from './work.ts'
import type { workClients } from './work.ts'

type Report = NonNullable<CallInput<typeof reportUsage>['body']>

/** A run of a new claimed task of the caller, which tells what it uses. */
export async function spendingRun(
  client: ClientOptions,
  {
    workspaceId,
    ...start
  }: { workspaceId?: string; model?: string; maxTokens?: number; maxCost?: string } = {},
) {
  const { task, claim, fence, session } = await claimedTask(
    client,
    workspaceId === undefined ? {} : { workspaceId },
  )
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

/** The first report of a run, or a later one: so many tokens. */
export function input(tokens: number, sequence = 1) {
  return { sequence, lines: [{ model: 'large', input: tokens }] }
}

/** A project of a new tenant with these bounds. */
export async function projectWith(
  db: Database,
  { admin }: Pick<ReturnType<typeof workClients>, 'admin'>,
  governance: Partial<SpendingBounds>,
) {
  const { tenant, client } = await admin()
  const tree = projectsOf(db, tenant.ctx)
  const { workspaceId, project } = await tree.place(null, { config: { governance } })
  return { tenant, ctx: tenant.ctx, client, tree, workspaceId, projectId: project.id }
}

/** Each bound of a project and above it: its name, limit, used, reserved and left. */
export async function stateOf(client: ClientOptions, projectId: string) {
  const { caps } = await call(client, getProjectBudget, { params: { id: projectId } })
  return caps.map(({ budget, limit, used, reserved, left }) => [
    budget,
    limit,
    used,
    reserved,
    left,
  ])
}
