import type { NewSkill } from '#contract/skills.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { unusableSchema } from '#lib/schema-errors.ts'
import { requirePermission } from '#org/permission.ts'
import { insertSkill } from './skill.sql.ts'
import type { SkillRow } from './skill.sql.ts'

/**
 * Adds a skill under a name and a version, which nobody has yet. Throws `invalid_skill` for what is no JSON
 * Schema, `skill_exists`, `secret_refused`.
 */
export async function registerSkill(
  sql: Sql,
  ctx: Ctx,
  input: NewSkill,
  compile: CompileSchema = compileSchema,
): Promise<SkillRow> {
  requirePermission(ctx, 'org.manage')
  const { description, contract } = input
  refuseSecretsIn({ description, contract })
  requireSchemas(input, compile)
  const id = newId()
  await lockEntities(sql, ctx, [{ type: 'skill', id }])
  const skill = await insertSkill(sql, ctx, { ...input, id }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'skill_version_unique')) throw cause
    const { name, version } = input
    throw new AppError('skill_exists', `Cannot register skill "${name}@${version}": it is there`, {
      details: { name, version },
      cause,
    })
  })
  const { name, version, protocol, rowVersion } = skill
  await appendEvent(sql, ctx, {
    type: 'skill.registered',
    entityType: 'skill',
    entityId: id,
    entityVersion: rowVersion,
    workspaceId: null,
    payload: { name, version, protocol },
  })
  return skill
}

function requireSchemas({ name, version, contract }: NewSkill, compile: CompileSchema): void {
  const errors = (['inputs', 'outputs'] as const).flatMap((part) =>
    unusableSchema(contract[part], ['body', 'contract', part], compile),
  )
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_skill',
    `Cannot register skill "${name}@${version}": ${first.loc} ${first.message}`,
    { details: { errors } },
  )
}
