import { lineOf } from '#access/is-eligible.ts'
import { permits } from '#contract/permissions.ts'
import type { ToolReason } from '#contract/tools.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { isUuid } from '#lib/id.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import { selectLiveSessions, selectSession } from '#work/session.sql.ts'
import type { SessionRow } from '#work/session.sql.ts'
import { selectCatalogue, selectSkill } from './skill.sql.ts'
import type { CatalogueRow, SkillRow } from './skill.sql.ts'
import { protocolsOf, reasonsAgainst } from './tool.ts'
import type { ToolPolicy } from './tool.ts'

/** Where a skill would be called, and in which session of the caller; the newest live one when none is named. */
export interface ToolPlace {
  workspaceId: string | null
  sessionId?: string | undefined
}

/** A skill as the caller sees it at a place. */
export interface ToolRow extends CatalogueRow {
  /** Everything against a call; empty when it is available. */
  against: ToolReason[]
}

/**
 * The skills that the caller has at a place, newest first, and of those what it could call; with `all`, for
 * readers of the catalogue, also those it does not have. Throws `not_found`.
 */
export async function readTools(
  sql: Sql,
  ctx: Ctx,
  place: ToolPlace,
  options: { all?: boolean; only?: { id?: string; name?: string } } = {},
): Promise<ToolRow[]> {
  const { workspaceId, sessionId } = place
  if (workspaceId !== null) {
    found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  }
  const session = await sessionOf(sql, ctx, sessionId)
  const policy = await policyAt(sql, ctx, { workspaceId, session })
  const line = await lineOf(sql, ctx, workspaceId)
  const all = options.all === true && permits(ctx.permissions, 'org.read')
  const view = { ...options, principalId: ctx.actorId, line, all }
  const rows = await selectCatalogue(sql, ctx, view)
  return rows.map((row) => ({ ...row, against: reasonsAgainst(row, policy) }))
}

/** One skill with its contract as the caller sees it at a place. */
export type ToolDetail = SkillRow & Pick<ToolRow, 'against'>

/**
 * A skill by id, name or name@version; by name alone the newest that could be called, else the newest. What
 * the caller does not have is shown to readers of the catalogue only. Throws `tool_not_found`, `not_found`.
 */
export async function readTool(
  sql: Sql,
  ctx: Ctx,
  ref: string,
  place: ToolPlace,
): Promise<ToolDetail> {
  const [name = '', version] = ref.split('@')
  const only = isUuid(ref) ? { id: ref } : { name }
  const rows = await readTools(sql, ctx, place, { all: true, only })
  const fitting = rows.filter((row) => version === undefined || row.version === version)
  const chosen = fitting.find(({ against }) => against.length === 0) ?? fitting[0]
  const skill = chosen && (await selectSkill(sql, ctx, chosen.id))
  if (!chosen || !skill) {
    throw new AppError('tool_not_found', `Cannot find tool "${ref}"`, { details: { ref } })
  }
  return { ...skill, against: chosen.against }
}

/** Throws `not_found` for a session that is not the caller's own. */
async function sessionOf(
  sql: Sql,
  ctx: Ctx,
  id: string | undefined,
): Promise<SessionRow | undefined> {
  if (id === undefined) return (await selectLiveSessions(sql, ctx, 1))[0]
  const session = await selectSession(sql, ctx, id)
  return found(session?.principalId === ctx.actorId ? session : undefined, 'session', id)
}

/** What narrows a caller's skills at a place: the project there, the harness, and a child handle. */
export async function policyAt(
  sql: Sql,
  ctx: Ctx,
  place: { workspaceId: string | null; session: Pick<SessionRow, 'capabilities'> | undefined },
): Promise<ToolPolicy> {
  const rules = await readWorkRules(sql, ctx, place.workspaceId)
  return {
    allowedProtocols: rules?.governance.allowedSkillProtocols ?? null,
    supportedProtocols: place.session ? protocolsOf(place.session.capabilities) : null,
    grantedSkills: ctx.childGrant?.skills ?? null,
  }
}
