import type { Skill, SkillSummary } from '#contract/skills.ts'
import type { Tool, ToolView } from '#contract/tools.ts'
import type { ToolDetail, ToolRow } from './read-tools.ts'
import type { SkillRow, SkillSummaryRow } from './skill.sql.ts'

export function skillSummaryReply({ createdAt, ...row }: SkillSummaryRow): SkillSummary {
  return { ...row, createdAt: createdAt.toISOString() }
}

export function skillReply({ contract, ...row }: SkillRow): Skill {
  return { ...skillSummaryReply(row), contract }
}

export function toolView(row: Omit<ToolRow, 'isAssigned'>): ToolView {
  const { id, name, version, description, status, protocol, sideEffects, riskLevel, against } = row
  const identity = { id, name, version, description, status, protocol, sideEffects, riskLevel }
  const available = against.length === 0
  const reasons = available ? (['assigned_and_protocol_supported'] as const) : against
  return { ...identity, available, reasons: [...reasons] }
}

export function toolReply(row: ToolDetail): Tool {
  return { ...toolView(row), contract: row.contract }
}
