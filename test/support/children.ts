import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { createChildHandle } from '#contract/child-handles.ts'
import type { Grant } from '#contract/child-handles.ts'
import { CHILD_HANDLE_HEADER } from '#contract/child-run.ts'
import * as claims from '#contract/claims.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { newId } from '#lib/id.ts'
import { claimedTask } from './work.ts'

export const CHILD_RIGHTS: Grant['permissions'] = ['tasks.claim', 'tasks.read', 'sessions.open']

export async function parentRun(client: ClientOptions, budget: object = {}) {
  const { task, fence } = await claimedTask(client)
  const body = { ...fence, ...budget }
  const run = await call(client, runs.startRun, { params: { ref: task.id }, body })
  return { task, run, params: { id: run.id }, fencingToken: fence.fencingToken }
}

export type Parent = Awaited<ReturnType<typeof parentRun>>

export async function newChild(
  client: ClientOptions,
  { params, fencingToken }: Parent,
  input: { correlationId?: string; grant?: Partial<Grant>; cancellationPolicy?: 'detach' } = {},
) {
  const { correlationId = newId(), grant, ...rest } = input
  return await call(client, createChildHandle, {
    params,
    idempotencyKey: newId(),
    body: {
      fencingToken,
      correlationId,
      title: 'Write the tests',
      grant: { permissions: CHILD_RIGHTS, ...grant },
      ...rest,
    },
  })
}

/** The same credential, with the handle shown. */
export function under(client: ClientOptions, token: string | null): ClientOptions {
  return {
    ...client,
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers)
      headers.set(CHILD_HANDLE_HEADER, token ?? '')
      return await (client.fetch ?? fetch)(url, { ...init, headers })
    },
  }
}

export async function workAsChild(child: ClientOptions, taskId: string) {
  const session = await call(child, openSession, { body: { clientName: 'child' } })
  const claim = await call(child, claims.claimTask, {
    params: { ref: taskId },
    body: { sessionId: session.id },
  })
  const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
  const run = await call(child, runs.startRun, { params: { ref: taskId }, body: fence })
  return { run, params: { id: run.id }, ...fence }
}
