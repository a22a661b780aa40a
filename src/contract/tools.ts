import { z } from 'zod'
import { Id, page, pageQuery, queryBool } from './common.ts'
import { route } from './route.ts'
import { SkillContract, skillIdentity, SkillRef } from './skills.ts'

/** Why a caller can call a skill, or everything that is against it. */
export const TOOL_REASONS = [
  'assigned_and_protocol_supported',
  'not_assigned',
  'skill_disabled',
  'not_granted_by_child_handle',
  'protocol_not_allowed_by_governance',
  'protocol_not_supported_by_harness',
] as const
export type ToolReason = (typeof TOOL_REASONS)[number]

/** A skill as one caller sees it at one place. */
export const ToolView = z
  .strictObject({
    ...skillIdentity,
    /** Whether the caller could call it there. */
    available: z.boolean(),
    reasons: z.array(z.enum(TOOL_REASONS)).min(1),
  })
  .meta({ id: 'ToolView' })
export type ToolView = z.infer<typeof ToolView>

export const Tool = z
  .strictObject({ ...ToolView.shape, contract: SkillContract })
  .meta({ id: 'Tool' })
export type Tool = z.output<typeof Tool>

/** What decides which skills a caller has. */
const place = {
  /** Where it would be called; without one, outside every workspace. */
  workspaceId: Id.optional(),
  /** Own session whose harness would call; the newest live one when absent. */
  sessionId: Id.optional(),
}

export const listTools = route({
  method: 'GET',
  path: '/api/v1/tools',
  summary: 'What the caller can call at a place, newest first',
  tag: 'Tools',
  access: 'authenticated',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  viewHash: true,
  query: z.strictObject({
    ...pageQuery,
    ...place,
    /** Words that name or description contain, all of them. */
    q: z.string().max(200).optional(),
    /** Also what the caller has and cannot call now; with `org.read`, also what it does not have. */
    includeUnavailable: queryBool.optional(),
  }),
  reply: z.strictObject({
    ...page(ToolView).shape,
    /** Of everything the query finds: the same as long as nothing of it changes. */
    viewHash: z.string(),
  }),
})

export const getTool = route({
  method: 'GET',
  path: '/api/v1/tools/{ref}',
  summary: 'How a skill is called; by name alone, its newest version that can be',
  tag: 'Tools',
  access: 'authenticated',
  errors: ['tool_not_found', 'not_found'],
  params: z.strictObject({ ref: SkillRef }),
  query: z.strictObject(place),
  reply: Tool,
})

export const routes = { listTools, getTool }
