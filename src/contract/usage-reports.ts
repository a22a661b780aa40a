import { z } from 'zod'
import { FencingToken, Id, page, pageQuery, UtcInstant } from './common.ts'
import { nameOf } from './price-tables.ts'
import { route } from './route.ts'
import { Run, RUN_REFUSALS, SPENDING_BUDGETS } from './runs.ts'
import { Amount, Spent, spentFields } from './spent.ts'

/**
 * What the figures of a report are: `delta` what was used since the report before; `cumulative` totals of
 * a session of the agent's program, whatever the model; `cumulative_by_model` such totals for each model.
 */
export const USAGE_MODES = ['delta', 'cumulative', 'cumulative_by_model'] as const
export type UsageMode = (typeof USAGE_MODES)[number]

/** Why a line has no cost: no table is in force, none of its entries fits, or one names no such price. */
export const UNPRICED = ['no_price_table', 'unknown_model', 'token_class'] as const
export type Unpriced = (typeof UNPRICED)[number]

const MAX_LINES = 50
const figure = z.int().min(0).max(1_000_000_000_000).default(0)

const GivenLine = z.strictObject({
  provider: nameOf(100).nullable().default(null),
  /** As the program names it. */
  model: nameOf(200),
  input: figure,
  output: figure,
  cacheRead: figure,
  cacheWrite: figure,
  reasoning: figure,
  /** What the program says it cost, in US dollars; cumulative where the tokens are. */
  reportedUsd: Amount.nullable().default(null),
})
export type GivenLine = z.output<typeof GivenLine>

export const UsageLine = z
  .strictObject({
    provider: z.string().nullable(),
    model: z.string(),
    ...spentFields,
    /** The version of the price table that made the cost. */
    priceVersion: z.int().nullable(),
    unpriced: z.enum(UNPRICED).nullable(),
    /** Figures fell below those before: the program had begun to count anew, and they count whole. */
    newSession: z.boolean(),
  })
  .meta({ id: 'UsageLine' })
export type UsageLine = z.infer<typeof UsageLine>

export const UsageReport = z
  .strictObject({
    id: z.uuid(),
    runId: z.uuid(),
    sequence: z.int(),
    mode: z.enum(USAGE_MODES),
    cliSessionId: z.string().nullable(),
    /** Told after the run had ended, under no claim. */
    late: z.boolean(),
    /** What was used since the report before, whatever the mode. */
    lines: z.array(UsageLine),
    recordedAt: UtcInstant,
  })
  .meta({ id: 'UsageReport' })
export type UsageReport = z.infer<typeof UsageReport>

const ofRun = z.strictObject({ id: Id })
const tag = 'Accounting'

function oncePerModel(lines: readonly { provider: string | null; model: string }[]): boolean {
  return (
    new Set(lines.map(({ provider, model }) => JSON.stringify([provider, model]))).size ===
    lines.length
  )
}

const given = {
  /** The reporter's own number of the report; the same again with the same content changes nothing. */
  sequence: z.int().min(1).max(2_147_483_647),
  mode: z.enum(USAGE_MODES).default('delta'),
  /** The id of the session that totals are of, as the program gives it; needed with them. */
  cliSessionId: nameOf(200).optional(),
  lines: z
    .array(GivenLine)
    .min(1)
    .max(MAX_LINES)
    .refine(oncePerModel, 'must name each model of a provider once'),
}

interface Given {
  mode: UsageMode
  cliSessionId?: string | undefined
  lines: readonly unknown[]
}

const isOfSession = ({ mode, cliSessionId }: Given) =>
  mode === 'delta' || cliSessionId !== undefined
const NEEDS_SESSION = { path: ['cliSessionId'], error: 'is needed with cumulative figures' }
const isOneTotal = ({ mode, lines }: Given) => mode !== 'cumulative' || lines.length === 1
const ONE_TOTAL = { path: ['lines'], error: 'must be one line for totals of a whole session' }

/** What a run used so far, and what is left of its budget. */
const standing = {
  usage: Spent,
  maxTokens: Run.shape.maxTokens,
  maxCost: Run.shape.maxCost,
  tokensLeft: Run.shape.tokensLeft,
  costLeft: Run.shape.costLeft,
  /** Budgets with nothing left: finish what is begun and end the run; new actions are refused. */
  usedUp: z.array(z.enum(SPENDING_BUDGETS)),
}

/** Where a run stands after a report. */
const reported = z.strictObject({
  report: UsageReport,
  /** True when this sequence was told before; nothing was written now. */
  deduplicated: z.boolean(),
  ...standing,
})

export const reportUsage = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/usage-reports',
  summary: 'Tell what a run used; at the end of its budget it is asked to stop',
  tag,
  access: 'tasks.claim',
  statuses: [201, 200],
  errors: [...RUN_REFUSALS, 'usage_sequence_reused'],
  params: ofRun,
  body: z
    .strictObject({ fencingToken: FencingToken, ...given })
    .refine(isOfSession, NEEDS_SESSION)
    .refine(isOneTotal, ONE_TOTAL),
  reply: reported,
})

export const reportLateUsage = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/late-usage-reports',
  summary: 'Tell what a run used that has ended or lost its claim; whoever worked on it does',
  tag,
  access: 'tasks.claim',
  statuses: [201, 200],
  errors: ['not_found', 'run_holder_mismatch', 'run_in_progress', 'usage_sequence_reused'],
  params: ofRun,
  body: z.strictObject(given).refine(isOfSession, NEEDS_SESSION).refine(isOneTotal, ONE_TOTAL),
  reply: reported,
})

export const listUsageReports = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/usage-reports',
  summary: 'What was told about the use of a run, newest first',
  tag,
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: ofRun,
  query: z.strictObject(pageQuery),
  reply: page(UsageReport),
})

export const getRunUsage = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/usage',
  summary: 'What a run used so far, by model',
  tag,
  access: 'tasks.read',
  errors: ['not_found'],
  params: ofRun,
  reply: z
    .strictObject({
      runId: z.uuid(),
      ...standing,
      byModel: z.array(
        z.strictObject({ provider: z.string().nullable(), model: z.string(), ...spentFields }),
      ),
      /** The greatest sequence reported; 0 before the first. */
      lastSequence: z.int(),
    })
    .meta({ id: 'RunUsage' }),
})

export const routes = { reportUsage, reportLateUsage, listUsageReports, getRunUsage }
