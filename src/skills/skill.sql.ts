import type { NewSkill, SkillContract, SkillStatus, SkillSummary } from '#contract/skills.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface SkillSummaryRow extends Omit<SkillSummary, 'createdAt'> {
  createdAt: Date
}

export interface SkillRow extends SkillSummaryRow {
  contract: SkillContract
}

function summary(sql: Sql) {
  return sql`id, name, version, description, status, protocol, side_effects, risk_level, row_version,
    created_by, created_at`
}

export async function insertSkill(
  sql: Sql,
  ctx: Ctx,
  skill: NewSkill & { id: string },
): Promise<SkillRow> {
  const { id, name, version, description, sideEffects, riskLevel, contract } = skill
  const [row] = await sql<[SkillRow]>`
    insert into skills
      (tenant_id, id, name, version, description, protocol, side_effects, risk_level, contract,
       created_by)
    values
      (${ctx.tenantId}, ${id}, ${name}, ${version}, ${description},
       ${contract.implementation.protocol}, ${sideEffects}, ${riskLevel},
       ${sql.json(contract as never)}, ${ctx.actorId})
    returning ${summary(sql)}, contract`
  return row
}

export async function selectSkill(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<SkillRow | undefined> {
  const [row] = await sql<SkillRow[]>`
    select ${summary(sql)}, contract
    from skills
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Newest first. Uses index skills_by_time. Reads one row more than the page holds. */
export async function selectSkills(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    name?: string | undefined
    status?: SkillStatus | undefined
    protocol?: string | undefined
  },
): Promise<SkillSummaryRow[]> {
  const { page, name, status, protocol } = filter
  return await sql<SkillSummaryRow[]>`
    select ${summary(sql)}
    from skills
    where tenant_id = ${ctx.tenantId}
      ${name === undefined ? sql`` : sql`and name = ${name}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${protocol === undefined ? sql`` : sql`and protocol = ${protocol}`}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

export async function updateSkillRow(
  sql: Sql,
  ctx: Tenancy,
  skill: Pick<SkillRow, 'id' | 'description' | 'status'>,
): Promise<SkillRow> {
  const { id, description, status } = skill
  const [row] = await sql<[SkillRow]>`
    update skills
    set description = ${description}, status = ${status}, row_version = row_version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning ${summary(sql)}, contract`
  return row
}

/** A skill, and whether a principal has it at a place. */
export type CatalogueRow = SkillSummaryRow & { isAssigned: boolean }

/**
 * The catalogue as a principal sees it, newest first; what it does not have only with `all`. `line` is the
 * place with what is above it, as `selectHeld` takes it. Uses indexes one_assignment, skills_by_time.
 */
export async function selectCatalogue(
  sql: Sql,
  ctx: Tenancy,
  view: {
    principalId: string
    line: readonly string[] | null
    all?: boolean
    only?: { id?: string; name?: string }
  },
): Promise<CatalogueRow[]> {
  const { principalId, line, all = false, only: { id, name } = {} } = view
  const assigned = sql`
    select a.skill_id
    from assignments a
    where a.tenant_id = ${ctx.tenantId}
      and a.principal_id = ${principalId}
      and a.skill_id is not null
      ${
        line === null
          ? sql``
          : sql`and (a.workspace_id is null or a.workspace_id = any(${[...line]}::uuid[]))`
      }`
  return await sql<CatalogueRow[]>`
    select ${summary(sql)}, id in (${assigned}) as is_assigned
    from skills
    where tenant_id = ${ctx.tenantId}
      ${all ? sql`` : sql`and id in (${assigned})`}
      ${id === undefined ? sql`` : sql`and id = ${id}`}
      ${name === undefined ? sql`` : sql`and name = ${name}`}
    order by created_at desc, id desc`
}
