import { getMe } from '#contract/org.ts'
import * as calls from '#contract/skill-invocations.ts'
import * as skills from '#contract/skills.ts'
import { newSkill } from './skills.ts'
import type { Walk } from './walk.ts'

/** A skill from its registration to its end, and calls of it. */
export async function walkSkills(
  walk: Walk,
  grant: { principalId: string; workspaceId: string },
): Promise<void> {
  const { make, told, kept } = walk
  const { contract, ...body } = newSkill(told('name of a skill').toLowerCase())
  const skill = await make(skills.registerSkill, {
    body: {
      ...body,
      version: told('version of a skill'),
      description: kept('description of a skill'),
      contract: {
        ...contract,
        inputs: { type: 'object', description: kept('inputs of a skill') },
        retryPolicy: { maxAttempts: 2 },
        implementation: { protocol: 'http', path: kept('implementation of a skill') },
      },
    },
  })
  const params = { id: skill.id }
  await make(skills.assignSkill, { params, body: grant })
  await make(skills.revokeSkill, { params, body: grant })
  await walkCalls(walk, skill.id)
  const description = kept('later description of a skill')
  const ifMatch = skill.rowVersion
  await make(skills.updateSkill, { params, ifMatch, body: { description, status: 'deprecated' } })
}

async function walkCalls({ make, kept }: Walk, skillId: string): Promise<void> {
  const { principal } = await make(getMe, {})
  await make(skills.assignSkill, { params: { id: skillId }, body: { principalId: principal.id } })
  const begin = async () => {
    const inputs = { note: kept('input of a call') }
    const { id } = await make(calls.invokeSkill, { params: { id: skillId }, body: { inputs } })
    await make(calls.claimInvocation, { params: { id } })
    return { id }
  }
  const failing = await begin()
  const error = { code: kept('code of a failure'), message: kept('message of a failure') }
  await make(calls.failInvocation, {
    params: failing,
    body: { fencingToken: 1, error, retryable: true },
  })
  await make(calls.claimInvocation, { params: failing })
  await make(calls.failInvocation, { params: failing, body: { fencingToken: 2, error } })
  const outputs = { note: kept('output of a call') }
  const succeeding = await begin()
  await make(calls.completeInvocation, { params: succeeding, body: { fencingToken: 1, outputs } })
  const reason = kept('reason of a cancelled call')
  await make(calls.cancelInvocation, { params: await begin(), body: { reason } })
}
