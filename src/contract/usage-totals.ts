import { z } from 'zod'
import { Day, Id, Limit, page, queryBool } from './common.ts'
import { nameOf } from './price-tables.ts'
import { route } from './route.ts'
import { spentFields } from './spent.ts'

/** What totals are kept apart by: days and months are those of UTC. */
export const USAGE_GROUPS = ['agent', 'project', 'workspace', 'model', 'day', 'month'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** A sum with what it is of; only the fields of the grouping are there. */
export const UsageTotal = z
  .strictObject({
    principalId: z.uuid().optional(),
    /** Null: in no project, or in one out of the caller's reach. */
    projectId: z.uuid().nullable().optional(),
    /** Null: in no workspace. */
    workspaceId: z.uuid().nullable().optional(),
    provider: z.string().nullable().optional(),
    model: z.string().optional(),
    day: z.string().optional(),
    month: z.string().optional(),
    ...spentFields,
  })
  .meta({ id: 'UsageTotal' })
export type UsageTotal = z.infer<typeof UsageTotal>

export const getUsage = route({
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'What was used and what it cost, added up; without `groupBy` in one sum',
  tag: 'Accounting',
  access: 'accounting.read',
  errors: ['not_found', 'permission_denied', 'invalid_limit', 'invalid_cursor'],
  query: z
    .strictObject({
      limit: Limit,
      /** Holds the names it stands at, so it can be longer than others. */
      cursor: z.string().max(4096).optional(),
      groupBy: z.enum(USAGE_GROUPS).optional(),
      /** The first and the last day of the period, both included. */
      from: Day.optional(),
      to: Day.optional(),
      principalId: Id.optional(),
      workspaceId: Id.optional(),
      /** With `workspaceId`: also what is below it. */
      includeDescendants: queryBool.optional(),
      projectId: Id.optional(),
      /** With `projectId` its nested projects too; grouped by project, each sum with those below it. */
      includeSubprojects: queryBool.default(false),
      provider: nameOf(100).optional(),
      model: nameOf(200).optional(),
    })
    .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
      path: ['to'],
      error: 'must not be before from',
    }),
  reply: page(UsageTotal),
})

export const routes = { getUsage }
