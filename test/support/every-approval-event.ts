import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as approvals from '#contract/approvals.ts'
import * as org from '#contract/org.ts'
import * as tasks from '#contract/tasks.ts'
import type { Walk } from './walk.ts'

/** Asks somebody else for approvals of a task, who approves one and rejects one; one is withdrawn. */
export async function walkApprovals(
  { make, told, kept }: Walk,
  client: ClientOptions,
): Promise<void> {
  const { id: assignedPrincipalId } = await make(org.createPrincipal, {
    body: { kind: 'human', displayName: told('name of a decider') },
  })
  const { key } = await make(org.createApiKey, {
    params: { id: assignedPrincipalId },
    body: { name: kept('key of a decider'), permissions: ['approvals.decide'] },
  })
  const decider = { ...client, token: key ?? '' }
  const task = await make(tasks.createTask, { body: { title: 'To be approved' } })
  const ask = async (name: string) => {
    const comment = told(`comment of ${name}`)
    const body = { taskId: task.id, assignedPrincipalId, gate: true, comment }
    const { id } = await make(approvals.requestApproval, { body })
    return { id }
  }
  await call(decider, approvals.approve, {
    params: await ask('a request that is approved'),
    body: { comment: told('comment of an approval') },
  })
  await call(decider, approvals.reject, {
    params: await ask('a request that is rejected'),
    body: { comment: told('comment of a rejection') },
  })
  await make(approvals.cancelApproval, {
    params: await ask('a request that is withdrawn'),
    body: { comment: kept('comment of a withdrawal') },
  })
}
