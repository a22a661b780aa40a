import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { getContext } from '#contract/context.ts'
import { recordObservation } from '#contract/observations.ts'
import { createApiKey, createPrincipal } from '#contract/org.ts'
import { AGENT_PERMISSIONS } from '#contract/permissions.ts'
import { recordCheckpoint, startRun, succeedRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'

/** A principal with a credential of its own: what a harness is given. */
export async function createAgent(admin: ClientOptions, name: string): Promise<ClientOptions> {
  const agent = await call(admin, createPrincipal, { body: { kind: 'agent', displayName: name } })
  const { key } = await call(admin, createApiKey, {
    params: { id: agent.id },
    body: { name: 'demo', permissions: [...AGENT_PERMISSIONS] },
  })
  return { ...admin, token: key ?? '' }
}

export interface Work {
  taskId: string
  claimId: string
  runId: string
  fencingToken: number
}

/** Session, claim, run: from here on every write carries the fencing token. */
export async function takeTask(agent: ClientOptions, ref: string, intent: string): Promise<Work> {
  const session = await call(agent, openSession, { body: { clientName: 'demo' } })
  const claim = await call(agent, claimTask, {
    params: { ref },
    body: { sessionId: session.id, intent },
  })
  const { id: claimId, fencingToken, taskId } = claim
  const run = await call(agent, startRun, { params: { ref }, body: { claimId, fencingToken } })
  return { taskId, claimId, runId: run.id, fencingToken }
}

/** What an agent leaves for whoever comes next: on purpose, in words, bound to its task. */
export async function leave(
  agent: ClientOptions,
  { taskId, runId }: Work,
  kind: 'finding' | 'decision',
  content: string,
): Promise<void> {
  await call(agent, recordObservation, { body: { kind, content, task: taskId, runId } })
}

export async function finish(
  agent: ClientOptions,
  { runId, fencingToken }: Work,
  completeTask: boolean,
): Promise<void> {
  const params = { id: runId }
  const data = { summary: completeTask ? 'Done' : 'Analysed; the change itself is open' }
  await call(agent, recordCheckpoint, { params, body: { fencingToken, kind: 'progress', data } })
  await call(agent, succeedRun, { params, body: { fencingToken, completeTask } })
}

const CATCH_UP_MS = 30_000

const ASK_AGAIN_MS = 50

/** The context of a run once memory answers and has caught up with the journal; it says itself when. */
export async function contextOf(agent: ClientOptions, { taskId, runId }: Work) {
  const until = AbortSignal.timeout(CATCH_UP_MS)
  for (;;) {
    const context = await call(agent, getContext, { body: { task: taskId, runId } })
    const isThere = context.memoryStatus === 'ok' && context.freshness.memoryLagEvents === 0
    if (isThere || until.aborted) return context
    await sleep(ASK_AGAIN_MS)
  }
}
