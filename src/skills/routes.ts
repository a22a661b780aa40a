import type { Hono } from 'hono'
import { assign } from '#access/assign.ts'
import { selectAssignments } from '#access/assignment.sql.ts'
import { assignmentReply } from '#access/replies.ts'
import { revokeAssignment } from '#access/revoke-assignment.ts'
import * as skills from '#contract/skills.ts'
import * as tools from '#contract/tools.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Position } from '#db/page.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { sha256 } from '#lib/id.ts'
import { canonicalJson } from '#lib/json.ts'
import { createSchemaCache } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { readTool, readTools } from './read-tools.ts'
import { registerSkill } from './register-skill.ts'
import { skillReply, skillSummaryReply, toolReply, toolView } from './replies.ts'
import { selectSkill, selectSkills } from './skill.sql.ts'
import { mentions } from './tool.ts'
import { updateSkill } from './update-skill.ts'

/** How many different schemas of inputs and outputs are kept ready. */
const MAX_SCHEMAS = 200

/** Skills, who has them, and what a caller can call. */
export function skillsRoutes(app: Hono, deps: Deps): void {
  const compile = createSchemaCache(MAX_SCHEMAS)
  bindRegistry(app, deps, compile)
  bindAssignments(app, deps)
  bindTools(app, deps)
}

function bindRegistry(app: Hono, deps: Deps, compile: CompileSchema): void {
  bind(app, deps, skills.registerSkill, async (sql, ctx, { body }) =>
    skillReply(await registerSkill(sql, ctx, body, compile)),
  )
  bind(app, deps, skills.listSkills, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`skills?${JSON.stringify(narrowing)}`, query)
    return pageOf(page, await selectSkills(sql, ctx, { page, ...narrowing }), skillSummaryReply)
  })
  bind(app, deps, skills.getSkill, async (sql, ctx, { params: { id } }) =>
    skillReply(found(await selectSkill(sql, ctx, id), 'skill', id)),
  )
  bind(app, deps, skills.updateSkill, async (sql, ctx, { params, body, expectedVersion }) =>
    skillReply(await updateSkill(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindAssignments(app: Hono, deps: Deps): void {
  bind(app, deps, skills.assignSkill, async (sql, ctx, { params, body }) => {
    const grant = { kind: 'skill', ...params, ...body } as const
    const { assignment, isNew } = await assign(sql, ctx, grant)
    return withStatus(isNew ? 201 : 200, assignmentReply(assignment))
  })
  bind(app, deps, skills.revokeSkill, async (sql, ctx, { params, body }) => ({
    revoked: await revokeAssignment(sql, ctx, { kind: 'skill', ...params, ...body }),
  }))
  bind(app, deps, skills.listSkillAssignments, async (sql, ctx, { params: { id }, query }) => {
    found(await selectSkill(sql, ctx, id), 'skill', id)
    const page = pageRequest(`assignments/skill/${id}`, query)
    const of = { kind: 'skill', id } as const
    return pageOf(page, await selectAssignments(sql, ctx, { page, of }), assignmentReply)
  })
}

function bindTools(app: Hono, deps: Deps): void {
  bind(app, deps, tools.listTools, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, workspaceId = null, sessionId, q = '', ...narrowing } = query
    const { includeUnavailable: all = false } = narrowing
    const wish = JSON.stringify({ ...narrowing, workspaceId, sessionId, q })
    const page = pageRequest(`tools?${sha256(wish)}`, query)
    const rows = await readTools(sql, ctx, { workspaceId, sessionId }, { all })
    const view = rows.filter((row) => mentions(row, q) && (all || row.against.length === 0))
    const rest = view.filter((row) => page.after === undefined || isOlder(row, page.after))
    const viewHash = sha256(canonicalJson(view.map(toolView)))
    return { ...pageOf(page, rest.slice(0, page.limit + 1), toolView), viewHash }
  })
  bind(app, deps, tools.getTool, async (sql, ctx, { params: { ref }, query }) => {
    const { workspaceId = null, sessionId } = query
    return toolReply(await readTool(sql, ctx, ref, { workspaceId, sessionId }))
  })
}

/** What `olderThan` asks of a row, for rows that are read already. */
function isOlder(row: Position, than: Position): boolean {
  const apart = than.createdAt.getTime() - row.createdAt.getTime()
  return apart > 0 || (apart === 0 && row.id < than.id)
}
