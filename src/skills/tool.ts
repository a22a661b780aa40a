import { SKILL_PROTOCOLS } from '#contract/skills.ts'
import type { SkillSummary } from '#contract/skills.ts'
import type { ToolReason } from '#contract/tools.ts'

/** What narrows the skills that a caller has; null: nothing does. */
export interface ToolPolicy {
  /** Protocols that the project at the place allows. */
  allowedProtocols: readonly string[] | null
  /** Protocols that the harness said it speaks. */
  supportedProtocols: readonly string[] | null
  /** Names of skills that a child handle grants. */
  grantedSkills: readonly string[] | null
}

export type ToolSubject = Pick<SkillSummary, 'name' | 'status' | 'protocol'> & {
  isAssigned: boolean
}

/** Everything that keeps a caller from calling a skill; nothing when it can. */
export function reasonsAgainst(skill: ToolSubject, policy: ToolPolicy): ToolReason[] {
  const { allowedProtocols, supportedProtocols, grantedSkills } = policy
  const reasons: [boolean, ToolReason][] = [
    [!skill.isAssigned, 'not_assigned'],
    [skill.status === 'disabled', 'skill_disabled'],
    [!isAmong(skill.name, grantedSkills), 'not_granted_by_child_handle'],
    [!isAmong(skill.protocol, allowedProtocols), 'protocol_not_allowed_by_governance'],
    [!isAmong(skill.protocol, supportedProtocols), 'protocol_not_supported_by_harness'],
  ]
  return reasons.filter(([holds]) => holds).map(([, reason]) => reason)
}

/** Whether a list lets something through; no list lets everything through. */
export function isAmong(value: string, list: readonly string[] | null): boolean {
  return list === null || list.includes(value)
}

/** The protocols among the capabilities of a session; null when it declared none, which narrows nothing. */
export function protocolsOf(capabilities: readonly string[]): string[] | null {
  const declared = SKILL_PROTOCOLS.filter((name) =>
    capabilities.includes(`skills.protocol.${name}`),
  )
  return declared.length === 0 ? null : declared
}

/** Whether every word of a search stands in the name or the description, in whatever case. */
export function mentions(
  { name, description }: Pick<SkillSummary, 'name' | 'description'>,
  words: string,
): boolean {
  const text = `${name} ${description}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
