import { SKILL_STATUSES } from '#contract/skills.ts'
import type { SkillStatus } from '#contract/skills.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { changedFields, requireVersion } from '#org/version.ts'
import { selectSkill, updateSkillRow } from './skill.sql.ts'
import type { SkillRow } from './skill.sql.ts'

/**
 * Describes a skill or moves it towards its end; a change of nothing writes nothing. Throws `not_found`,
 * `version_conflict`, `invalid_transition`.
 */
export async function updateSkill(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    expectedVersion: number
    description?: string | undefined
    status?: SkillStatus | undefined
  },
): Promise<SkillRow> {
  requirePermission(ctx, 'org.manage')
  const { id, expectedVersion } = input
  await lockEntities(sql, ctx, [{ type: 'skill', id }])
  const before = found(await selectSkill(sql, ctx, id), 'skill', id)
  requireVersion('skill', { id, version: before.rowVersion }, expectedVersion)
  const { description = before.description, status = before.status } = input
  requireOnward(before, status)
  const changed = changedFields(before, { description, status })
  if (changed.length === 0) return before
  const after = await updateSkillRow(sql, ctx, { id, description, status })
  const { rowVersion } = after
  await appendEvent(sql, ctx, {
    type: 'skill.updated',
    entityType: 'skill',
    entityId: id,
    entityVersion: rowVersion,
    workspaceId: null,
    payload: { changedFields: changed, rowVersion },
  })
  return after
}

function requireOnward({ id, status }: SkillRow, wanted: SkillStatus): void {
  const allowed = SKILL_STATUSES.slice(SKILL_STATUSES.indexOf(status))
  if (allowed.includes(wanted)) return
  throw new AppError('invalid_transition', `Cannot make skill "${id}" ${wanted}: it is ${status}`, {
    details: { status, allowed: allowed.slice(1) },
  })
}
