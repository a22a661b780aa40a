import type { SkillView } from '#contract/context.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { selectCatalogue } from './skill.sql.ts'
import { isAmong, reasonsAgainst } from './tool.ts'
import type { ToolPolicy } from './tool.ts'

const MAX_VIEWS = 500

/**
 * The skills that a principal has at a place (`line` as `selectHeld` takes it), without those that are
 * disabled or not granted, the newest first; `executable` are those that nothing else is against.
 */
export async function skillViews(
  sql: Sql,
  ctx: Tenancy,
  holder: { principalId: string; line: readonly string[] | null; policy: ToolPolicy },
): Promise<SkillView[]> {
  const { policy } = holder
  const rows = await selectCatalogue(sql, ctx, holder)
  return rows
    .filter(({ name, status }) => status !== 'disabled' && isAmong(name, policy.grantedSkills))
    .slice(0, MAX_VIEWS)
    .map((row) => {
      const { id, name, version, protocol, status } = row
      const executable = reasonsAgainst(row, policy).length === 0
      return { id, name, version, protocol, status, executable }
    })
}
