import { z } from 'zod'
import { Id } from './common.ts'
import { route } from './route.ts'
import { Amount } from './spent.ts'

const MAX_TOKENS = 1_000_000_000_000_000

/** Tokens of all classes that a run may use. */
export const RunTokens = z.int().min(1).max(MAX_TOKENS)

/** Money in the currency of the tenant that a run may cost. */
export const RunCost = Amount.refine((amount) => /[1-9]/.test(amount), 'must be more than 0')

const tokens = z.int().min(0).max(MAX_TOKENS).nullable()
const cost = Amount.nullable()

/** Bounds on what is used; null is none. A month is one of UTC; 0 stops new runs. */
export const spendingBounds = {
  /** Of each run, together with its children. */
  maxRunTokens: RunTokens.nullable(),
  maxRunCost: RunCost.nullable(),
  maxMonthTokens: tokens,
  maxMonthCost: cost,
  maxTotalTokens: tokens,
  maxTotalCost: cost,
}

export const SpendingBounds = z.strictObject(spendingBounds).meta({ id: 'SpendingBounds' })
export type SpendingBounds = z.infer<typeof SpendingBounds>

/** Bounds over all runs together. */
export const CAPS = ['maxMonthTokens', 'maxMonthCost', 'maxTotalTokens', 'maxTotalCost'] as const
export type CapName = (typeof CAPS)[number]

/** A number of tokens, or money as decimal text. */
const quantity = z.union([z.int(), z.string()])

/** Where a bound over all runs stands: nothing new starts that would bring used and reserved over it. */
export const CapState = z
  .strictObject({
    budget: z.enum(CAPS),
    scope: z.enum(['project', 'principal']),
    projectId: z.uuid().nullable(),
    principalId: z.uuid().nullable(),
    limit: quantity,
    used: quantity,
    /** What the runs that go on may still use. */
    reserved: quantity,
    left: quantity,
  })
  .meta({ id: 'CapState' })
export type CapState = z.infer<typeof CapState>

const byId = z.strictObject({ id: Id })
const tag = 'Accounting'

const PrincipalBudget = z
  .strictObject({
    principalId: z.uuid(),
    budget: SpendingBounds,
    caps: z.array(CapState),
    /** Of the principal. */
    version: z.int(),
  })
  .meta({ id: 'PrincipalBudget' })

export const getPrincipalBudget = route({
  method: 'GET',
  path: '/api/v1/principals/{id}/budget',
  summary: 'What a principal may use and has used; one’s own, or with accounting.read',
  tag,
  access: 'authenticated',
  errors: ['not_found', 'permission_denied'],
  etag: 'principal',
  params: byId,
  reply: PrincipalBudget,
})

export const updatePrincipalBudget = route({
  method: 'PATCH',
  path: '/api/v1/principals/{id}/budget',
  summary: 'Change the bounds that are named; nobody but an admin changes their own',
  tag,
  access: 'accounting.manage',
  errors: [
    'not_found',
    'permission_denied',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
  ],
  etag: 'principal',
  ifMatch: 'principal',
  params: byId,
  body: z.strictObject(spendingBounds).partial(),
  reply: PrincipalBudget,
})

export const getProjectBudget = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/budget',
  summary: 'Where the bounds of a project and of those above it stand',
  tag,
  access: 'accounting.read',
  errors: ['not_found'],
  params: byId,
  reply: z
    .strictObject({
      projectId: z.uuid(),
      /** In force for the project; each run has at most what its `maxRun` fields say. */
      budget: SpendingBounds,
      /** Of the projects within reach that set them, the topmost first. */
      caps: z.array(CapState),
    })
    .meta({ id: 'ProjectBudget' }),
})

export const routes = { getPrincipalBudget, updatePrincipalBudget, getProjectBudget }
