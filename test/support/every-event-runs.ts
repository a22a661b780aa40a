import { randomBytes } from 'node:crypto'
import { createChildHandle, revokeChildHandle } from '#contract/child-handles.ts'
import * as claims from '#contract/claims.ts'
import {
  acknowledgeControlMessage,
  listControlMessages,
  sendControlMessage,
} from '#contract/control-messages.ts'
import * as runStops from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import type { Walk } from './walk.ts'

/** Talks to a run, gives work to a child, and ends runs in the ways that leave the task to others. */
export async function walkSuspensions({ make, told, kept }: Walk, sessionId: string) {
  const { publicId: ref } = await make(tasks.createTask, { body: { title: 'Taken up again' } })
  const start = async () => {
    const claim = await make(claims.claimTask, { params: { ref }, body: { sessionId } })
    const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
    const run = await make(runs.startRun, { params: { ref }, body: fence })
    return { params: { id: run.id }, fencingToken: claim.fencingToken }
  }
  const suspended = await start()
  await make(runStops.requestCancel, {
    params: suspended.params,
    body: { reason: kept('reason of a request to cancel') },
  })
  const { version: expectedRunVersion } = await make(runs.getRun, { params: suspended.params })
  await make(sendControlMessage, {
    params: suspended.params,
    idempotencyKey: randomBytes(8).toString('hex'),
    body: { kind: 'redirect', message: kept('text of a message'), expectedRunVersion },
  })
  const { items } = await make(listControlMessages, { params: suspended.params })
  await make(acknowledgeControlMessage, {
    params: { ...suspended.params, messageId: items[0]?.id ?? '' },
    body: {
      fencingToken: suspended.fencingToken,
      status: 'applied',
      safeBoundary: kept('boundary of a message'),
      note: kept('note on a message'),
    },
  })
  const child = await make(createChildHandle, {
    params: suspended.params,
    idempotencyKey: randomBytes(8).toString('hex'),
    body: {
      fencingToken: suspended.fencingToken,
      correlationId: kept('name of a child'),
      title: told('title of a child'),
      grant: { permissions: ['tasks.claim'] },
    },
  })
  await make(revokeChildHandle, {
    params: { id: child.id },
    body: { reason: kept('reason of a revocation') },
  })
  await make(runStops.suspendRun, {
    params: suspended.params,
    body: { fencingToken: suspended.fencingToken, reason: told('reason of a suspension') },
  })
  const { params, fencingToken } = await start()
  const data = { summary: kept('summary of a handoff'), nextSteps: [kept('step of a handoff')] }
  await make(runStops.handOffRun, {
    params,
    idempotencyKey: randomBytes(8).toString('hex'),
    body: { fencingToken, checkpoint: { data } },
  })
}
