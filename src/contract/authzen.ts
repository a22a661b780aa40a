import { z } from 'zod'

/**
 * The questions put to a decision point and its answers. Source: OpenID AuthZEN Authorization API 1.0,
 * sections 5 to 8. A decision point may add to its answers what we do not read.
 */
const Properties = z.record(z.string(), z.unknown())

const Entity = z.object({
  type: z.string().min(1),
  id: z.string().min(1),
  properties: Properties.optional(),
})
const Action = z.object({ name: z.string().min(1), properties: Properties.optional() })

export const Evaluation = z.object({
  subject: Entity,
  action: Action,
  resource: Entity,
  context: Properties.optional(),
})
export type Evaluation = z.infer<typeof Evaluation>

/** Several questions; what one leaves out is taken from the whole. */
export const Evaluations = z.object({
  ...Evaluation.partial().shape,
  evaluations: z.array(Evaluation.partial()).min(1).max(500),
})
export type Evaluations = z.infer<typeof Evaluations>

/** On which resources of a type may the subject act? */
export const ResourceSearch = z.object({
  subject: Entity,
  action: Action,
  resource: z.object({ type: z.string().min(1), properties: Properties.optional() }),
  context: Properties.optional(),
})
export type ResourceSearch = z.infer<typeof ResourceSearch>

export const Decision = z.object({ decision: z.boolean() })
export const Decisions = z.object({ evaluations: z.array(Decision) })
export const SearchResults = z.object({
  results: z.array(z.object({ type: z.string(), id: z.string() })),
  /** There is more while the token says something. */
  page: z.object({ next_token: z.string().optional() }).optional(),
})

export const AUTHZEN_PATHS = {
  evaluation: '/access/v1/evaluation',
  evaluations: '/access/v1/evaluations',
  searchResource: '/access/v1/search/resource',
} as const

/**
 * What the control plane tells about a resource: its tenant, and the workspace it belongs to with that
 * workspace's ancestors, nearest first.
 */
export const ResourceProperties = z.object({
  tenantId: z.string(),
  workspaceIds: z.array(z.string()).default([]),
})
export type ResourceProperties = z.infer<typeof ResourceProperties>

/** A search brings the resources that come into question, for a decision point without data of its own. */
export const Candidates = z.array(z.object({ id: z.string(), properties: ResourceProperties }))
export type Candidates = z.infer<typeof Candidates>
