import { reject, requestApproval } from '#contract/approvals.ts'
import * as calls from '#contract/skill-invocations.ts'
import { registerSkill, updateSkill } from '#contract/skills.ts'
import { getTool } from '#contract/tools.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { parentRun } from '../support/children.ts'
import { givenSkill, newSkill } from '../support/skills.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

const NUMBERS = { type: 'object', properties: { count: { type: 'number' } } }

/** A skill that the first person has, with whatever differs in its contract. */
async function skillIn({ admin, tenant }: Scene, contract: object = {}, differs: object = {}) {
  const body = newSkill('deploy', differs)
  const skill = { ...body, contract: { ...body.contract, ...contract } }
  return await givenSkill(admin, skill, { principalId: tenant.ctx.actorId })
}

/** A call of it that the first person executes. */
async function claimedCall(scene: Scene, contract: object = {}) {
  const { id: skillId } = await skillIn(scene, contract)
  const { id } = await scene.make(calls.invokeSkill, { params: { id: skillId } })
  await scene.make(calls.claimInvocation, { params: { id } })
  return { params: { id } }
}

/** Skills, the tools that callers see of them, and calls. */
export const ofSkills = {
  invalid_skill: ({ admin }) => {
    const { contract, ...body } = newSkill('deploy')
    const inputs = { type: 'nothing' }
    return ask(admin, registerSkill, { body: { ...body, contract: { ...contract, inputs } } })
  },
  skill_exists: async ({ admin, make }) => {
    await make(registerSkill, { body: newSkill('deploy') })
    return ask(admin, registerSkill, { body: newSkill('deploy') })
  },
  tool_not_found: ({ admin }) => ask(admin, getTool, { params: { ref: 'deploy@1.0.0' } }),
  tool_not_authorized: async (scene) => {
    const { id } = await skillIn(scene)
    await scene.make(updateSkill, { params: { id }, ifMatch: 1, body: { status: 'disabled' } })
    return ask(scene.admin, calls.invokeSkill, { params: { id } })
  },
  skill_permission_denied: async ({ admin, tenant, clientOf }) => {
    const { ctx, key } = await tenant.caller(['skills.invoke'])
    const { contract, ...body } = newSkill('deploy')
    const skill = {
      ...body,
      contract: { ...contract, requiredPermissions: ['tasks.write' as const] },
    }
    const { id } = await givenSkill(admin, skill, { principalId: ctx.actorId })
    return ask(clientOf(key), calls.invokeSkill, { params: { id } })
  },
  skill_side_effect_not_authorized: async (scene) => {
    const { admin, tenant, clientOf, make } = scene
    const { id } = await skillIn(scene, {}, { sideEffects: 'external_write' })
    const { run, task, fencingToken } = await parentRun(admin)
    const { ctx, key } = await tenant.caller(['approvals.decide'], 'human')
    const body = { taskId: task.id, gate: true, assignedPrincipalId: ctx.actorId }
    const { id: approvalId } = await make(requestApproval, { body })
    await ask(clientOf(key), reject, { params: { id: approvalId } })
    const call = { runId: run.id, fencingToken, approvalId }
    return ask(admin, calls.invokeSkill, { params: { id }, body: call })
  },
  invalid_skill_inputs: async (scene) => {
    const { id } = await skillIn(scene, { inputs: NUMBERS })
    return ask(scene.admin, calls.invokeSkill, {
      params: { id },
      body: { inputs: { count: 'two' } },
    })
  },
  invalid_skill_outputs: async (scene) => {
    const { params } = await claimedCall(scene, { outputs: NUMBERS })
    const body = { fencingToken: 1, outputs: { count: 'two' } }
    return ask(scene.admin, calls.completeInvocation, { params, body })
  },
  stale_invocation_lease: async (scene) => {
    const { params } = await claimedCall(scene)
    await scene.make(calls.cancelInvocation, { params })
    return ask(scene.admin, calls.heartbeatInvocation, { params, body: { fencingToken: 1 } })
  },
  invocation_already_claimed: async (scene) =>
    ask(scene.admin, calls.claimInvocation, await claimedCall(scene)),
  invocation_not_due: async (scene) => {
    const retryPolicy = { maxAttempts: 2, backoffSeconds: 600 }
    const { params } = await claimedCall(scene, { retryPolicy })
    const body = { fencingToken: 1, error: { message: 'busy' }, retryable: true }
    await scene.make(calls.failInvocation, { params, body })
    return ask(scene.admin, calls.claimInvocation, { params })
  },
  invocation_not_active: async (scene) => {
    const { params } = await claimedCall(scene)
    await scene.make(calls.completeInvocation, { params, body: { fencingToken: 1 } })
    return ask(scene.admin, calls.claimInvocation, { params })
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
