import { createChildHandle, revokeChildHandle } from '#contract/child-handles.ts'
import { releaseClaim } from '#contract/claims.ts'
import { acknowledgeControlMessage, sendControlMessage } from '#contract/control-messages.ts'
import { listPrincipals } from '#contract/org.ts'
import { finishAction, recordAction } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import { listTasks } from '#contract/tasks.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import { newId } from '#lib/id.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { newChild, parentRun, under } from '../support/children.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

/** A run with two messages that wait for it. */
async function spokenTo({ make, admin }: Scene) {
  const { run, params, fencingToken } = await parentRun(admin)
  const say = (message: string) =>
    make(sendControlMessage, {
      params,
      idempotencyKey: newId(),
      body: { kind: 'queue', message, expectedRunVersion: run.version },
    })
  const first = await say('then the changelog')
  const { version } = await make(runs.getRun, { params })
  const second = await make(sendControlMessage, {
    params,
    idempotencyKey: newId(),
    body: { kind: 'queue', message: 'then the tests', expectedRunVersion: version },
  })
  const settle = { fencingToken, status: 'rejected' as const }
  return { params, first, second, settle }
}

/** What a child run is to do, and how its caller shows it. */
async function childOf({ admin }: Scene) {
  const handle = await newChild(admin, await parentRun(admin))
  return { handle, child: under(admin, handle.handleToken) }
}

/** Runs, what is said to them, and what they give to others. */
export const ofRuns = {
  run_already_active: async ({ admin }) => {
    const { task, run, fencingToken } = await parentRun(admin)
    const body = { claimId: run.claimId, fencingToken }
    return ask(admin, runs.startRun, { params: { ref: task.id }, body })
  },
  run_not_active: async ({ admin, make }) => {
    const { params, fencingToken } = await parentRun(admin)
    await make(runs.succeedRun, { params, body: { fencingToken } })
    return ask(admin, runs.failRun, { params, body: { reason: 'too late' } })
  },
  run_in_progress: async ({ admin }) => {
    const { run, fencingToken } = await parentRun(admin)
    return ask(admin, releaseClaim, { params: { id: run.claimId }, body: { fencingToken } })
  },
  run_holder_mismatch: async ({ admin, tenant, clientOf }) => {
    const { params } = await parentRun(admin)
    const { key } = await tenant.caller(['tasks.read', 'tasks.claim'])
    return ask(clientOf(key), runs.cancelRun, { params })
  },
  budget_exceeded: async ({ admin, make }) => {
    const { params, fencingToken } = await parentRun(admin, { maxActions: 1 })
    const body = { fencingToken, action: 'tool.shell' }
    await make(recordAction, { params, body })
    return ask(admin, recordAction, { params, body })
  },
  action_already_finished: async ({ admin, make }) => {
    const { params, fencingToken } = await parentRun(admin)
    const { id } = await make(recordAction, { params, body: { fencingToken, action: 'deploy' } })
    const finish = { params: { ...params, actionId: id } }
    const body = { fencingToken, status: 'succeeded' as const }
    await make(finishAction, { ...finish, body })
    return ask(admin, finishAction, { ...finish, body: { ...body, status: 'failed' } })
  },
  usage_sequence_reused: async ({ admin, make }) => {
    const { params, fencingToken } = await parentRun(admin)
    const used = (input: number) => ({
      params,
      body: { fencingToken, sequence: 1, lines: [{ model: 'large', input }] },
    })
    await make(reportUsage, used(10))
    return ask(admin, reportUsage, used(11))
  },
  control_message_settled: async (scene) => {
    const { params, first, settle } = await spokenTo(scene)
    const request = { params: { ...params, messageId: first.id }, body: settle }
    await scene.make(acknowledgeControlMessage, request)
    return ask(scene.admin, acknowledgeControlMessage, request)
  },
  control_message_out_of_order: async (scene) => {
    const { params, second, settle } = await spokenTo(scene)
    return ask(scene.admin, acknowledgeControlMessage, {
      params: { ...params, messageId: second.id },
      body: settle,
    })
  },
  child_grant_exceeds_parent: async ({ tenant, clientOf }) => {
    const { key } = await tenant.caller([
      'sessions.open',
      'tasks.read',
      'tasks.write',
      'tasks.claim',
    ])
    const { params, fencingToken } = await parentRun(clientOf(key))
    return ask(clientOf(key), createChildHandle, {
      params,
      idempotencyKey: newId(),
      body: {
        fencingToken,
        correlationId: newId(),
        title: 'Write the tests',
        grant: { permissions: ['tasks.claim', 'org.manage'] },
      },
    })
  },
  child_grant_exceeded: async (scene) => ask((await childOf(scene)).child, listPrincipals),
  child_handle_revoked: async (scene) => {
    const { handle, child } = await childOf(scene)
    await scene.make(revokeChildHandle, { params: { id: handle.id } })
    return ask(child, listTasks)
  },
  child_handle_expired: async (scene) => {
    const { handle, child } = await childOf(scene)
    await scene.db`
      update child_handles
      set expires_at = clock_timestamp()
      where tenant_id = ${scene.tenant.ctx.tenantId}
        and id = ${handle.id}`
    return ask(child, listTasks)
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
