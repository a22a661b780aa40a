import { registerSkill } from '#contract/skills.ts'
import { getTool } from '#contract/tools.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { newSkill } from '../support/skills.ts'
import { ask } from './scene.ts'
import type { ErrorCase } from './scene.ts'

/** Skills and the tools that callers see of them. */
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
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
