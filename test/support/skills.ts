import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { assignSkill, registerSkill } from '#contract/skills.ts'

type Body = NonNullable<CallInput<typeof registerSkill>['body']>

const OBJECT = { type: 'object' }

/** A skill that does nothing outside, with whatever differs. */
export function newSkill(name: string, differs: Partial<Body> = {}): Body {
  return {
    name,
    version: '1.0.0',
    description: `Does ${name}`,
    sideEffects: 'none',
    riskLevel: 'low',
    ...differs,
    contract: {
      inputs: OBJECT,
      outputs: OBJECT,
      implementation: { protocol: 'http' },
      ...differs.contract,
    },
  }
}

/** Registers a skill and gives it to a principal, everywhere or in a workspace. */
export async function givenSkill(
  admin: ClientOptions,
  body: Body,
  grant: { principalId: string; workspaceId?: string | null },
) {
  const skill = await call(admin, registerSkill, { body })
  await call(admin, assignSkill, { params: { id: skill.id }, body: grant })
  return skill
}
