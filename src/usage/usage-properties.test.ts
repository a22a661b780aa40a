import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createPriceTable } from '#accounting/create-price-table.ts'
import { selectTotals } from '#accounting/totals.sql.ts'
import { TOKEN_CLASSES } from '#contract/spent.ts'
import type { Spent } from '#contract/spent.ts'
import type { GivenLine, UsageMode } from '#contract/usage-reports.ts'
import { transaction } from '#db/sql.ts'
import { toTrillionths } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { selectRun } from '#runs/run.sql.ts'
import { addTask, startTask } from '../../test/support/context.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { reportUsage } from './report-usage.ts'
import { selectUsageByModel } from './sums.sql.ts'

const db = await sharedDb()

const RUNS = 3
const SESSIONS = ['thread-1', 'thread-2']
const MODELS = ['large', 'small', 'unheard-of']
/** For a million tokens; nobody knows a price for the last model. */
const PRICES = [
  { model: 'large', input: '3', output: '15', cacheRead: '0.3', cacheWrite: '3.75' },
  { model: 'small', input: '0.25', output: '2', cacheRead: '0.025', cacheWrite: '0.3125' },
]

interface Told {
  run: number
  sequence: number
  mode: UsageMode
  cliSessionId: string
  lines: GivenLine[]
}

const tokens = fc.record({
  input: fc.nat(20),
  output: fc.nat(20),
  cacheRead: fc.nat(20),
  cacheWrite: fc.nat(20),
  reasoning: fc.nat(20),
})
const line = (model: string) =>
  fc.tuple(tokens, fc.nat(9)).map(([counts, cents]): GivenLine => ({
    ...counts,
    provider: null,
    model,
    reportedUsd: `0.0${cents}`,
  }))
const lines = fc
  .subarray(MODELS, { minLength: 1 })
  .chain((models) => fc.tuple<GivenLine[]>(...models.map(line)))

/** A mode belongs to a session, as it does to a program. */
const report = fc
  .tuple(fc.nat(RUNS - 1), fc.constantFrom(0, 1, 2), lines)
  .map(([run, kind, all]): Omit<Told, 'sequence'> => {
    if (kind === 0) return { run, mode: 'delta', cliSessionId: 'none', lines: all }
    const cliSessionId = SESSIONS[kind - 1] ?? ''
    return kind === 1
      ? { run, mode: 'cumulative', cliSessionId, lines: all.slice(0, 1) }
      : { run, mode: 'cumulative_by_model', cliSessionId, lines: all }
  })

/** Reports of runs, numbered within each, and an order in which they arrive, some of them twice. */
const stories = fc
  .array(report, { minLength: 1, maxLength: 12 })
  .map((all) => all.map((one, index): Told => ({ ...one, sequence: index + 1 })))
  .chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray([...all.keys(), ...all.keys()], { minLength: all.length }),
    ),
  )
  .map(([all, order]) => ({
    all,
    // Whatever was left out arrives in the end.
    order: [...order, ...[...all.keys()].filter((index) => !order.includes(index))],
  }))

type Amounts = Record<string, bigint>

function amountsOf({ reportedUsd, ...counts }: GivenLine): { tokens: Amounts; usd: Amounts } {
  const counted = TOKEN_CLASSES.map((kind) => [kind, BigInt(counts[kind])] as const)
  return { tokens: Object.fromEntries(counted), usd: { usd: toTrillionths(reportedUsd ?? '0') } }
}

/** What was used by the meaning of the reports alone: each series read in its order. */
function naive(all: readonly Told[]): Amounts {
  const sum: Amounts = {}
  const add = (amounts: Amounts) => {
    for (const [kind, amount] of Object.entries(amounts)) sum[kind] = (sum[kind] ?? 0n) + amount
  }
  const last = new Map<string, Amounts>()
  const grow = (series: string, now: Amounts) => {
    const before = last.get(series)
    last.set(series, now)
    const isAnew =
      before && Object.entries(now).some(([kind, value]) => value < (before[kind] ?? 0n))
    if (!before || isAnew) return add(now)
    add(
      Object.fromEntries(
        Object.entries(now).map(([kind, value]) => [kind, value - (before[kind] ?? 0n)]),
      ),
    )
  }
  for (const told of all.toSorted((a, b) => a.run - b.run || a.sequence - b.sequence)) {
    for (const one of told.lines) {
      const amounts = amountsOf(one)
      if (told.mode === 'delta') {
        add(amounts.tokens)
        add(amounts.usd)
        continue
      }
      const series =
        told.mode === 'cumulative' ? told.cliSessionId : `${told.cliSessionId} ${one.model}`
      grow(`${series} tokens`, amounts.tokens)
      grow(`${series} usd`, amounts.usd)
    }
  }
  return sum
}

function amountsIn(spent: readonly Spent[]): Amounts {
  const sum: Amounts = {}
  for (const { tokens: counts, reportedUsd } of spent) {
    for (const kind of TOKEN_CLASSES) sum[kind] = (sum[kind] ?? 0n) + BigInt(counts[kind])
    sum['usd'] = (sum['usd'] ?? 0n) + toTrillionths(reportedUsd ?? '0')
  }
  return sum
}

/** Trillionths that the tokens of a model cost; none are made up for the model without a price. */
function costOfModel(model: string, { tokens: counts }: Spent): bigint {
  const price = PRICES.find((one) => one.model === model)
  if (!price) return 0n
  const perMillion = { ...price, reasoning: price.output }
  return TOKEN_CLASSES.reduce(
    (cost, kind) => cost + (BigInt(counts[kind]) * toTrillionths(perMillion[kind])) / 1_000_000n,
    0n,
  )
}

const costIn = (spent: readonly Spent[]) =>
  spent.reduce((sum, { cost }) => sum + toTrillionths(cost ?? '0'), 0n)

async function spendingRuns(ctx: Ctx) {
  const runs = []
  for (let count = 0; count < RUNS; count += 1) {
    const { id } = await addTask(db, ctx)
    runs.push(await startTask(db, ctx, id))
  }
  return runs
}

async function newTenant(): Promise<Ctx> {
  const ctx = await testCtx(db)
  const entries = PRICES.map((price) => ({ provider: null, ...price }))
  await transaction(db, 'read write', (sql) =>
    createPriceTable(sql, ctx, { currency: 'USD', entries }),
  )
  return ctx
}

describe('sums of use', () => {
  it('are those of the reports, in whatever order and however often these arrive, all at once', async () => {
    await fc.assert(
      fc.asyncProperty(stories, async ({ all, order }) => {
        const ctx = await newTenant()
        const runs = await spendingRuns(ctx)
        await Promise.all(
          order.map(async (index) => {
            const { run, ...told } = all[index] as Told
            const { runId: id } = runs[run] as (typeof runs)[number]
            await transaction(db, 'read write', (sql) =>
              reportUsage(sql, ctx, { ...told, id, fencingToken: 1 }),
            )
          }),
        )

        const expected = { ...amountsIn([]), ...naive(all) }
        const ofRuns = await Promise.all(runs.map(({ runId }) => selectRun(db, ctx, runId)))
        const inRuns = ofRuns.flatMap((run) => (run ? [run.usage] : []))
        assert.deepEqual(amountsIn(inRuns), expected)
        const byModel = (
          await Promise.all(runs.map(({ runId }) => selectUsageByModel(db, ctx, runId)))
        ).flat()
        assert.deepEqual(amountsIn(byModel.map(({ spent }) => spent)), expected)
        for (const groupBy of [undefined, 'agent', 'model', 'day', 'workspace'] as const) {
          const filter = { groupBy, workspaceIds: undefined, includeSubprojects: false }
          const totals = await selectTotals(db, ctx, filter, { after: undefined, limit: 200 })
          const spent = totals.map((total) => total.spent)
          assert.deepEqual(amountsIn(spent), expected)
          assert.equal(costIn(spent), costIn(inRuns))
        }
        const [months] = await db<{ tokens: string; cost: string }[]>`
          select sum(tokens) as tokens, sum(cost) as cost
          from usage_months
          where tenant_id = ${ctx.tenantId}`
        const total = inRuns.reduce((sum, { totalTokens }) => sum + totalTokens, 0)
        assert.deepEqual(
          [Number(months?.tokens), toTrillionths(months?.cost ?? '')],
          [total, costIn(inRuns)],
        )
        for (const { model, spent } of byModel) {
          assert.equal(toTrillionths(spent.cost ?? '0'), costOfModel(model, spent))
          assert.equal(spent.unpricedTokens, model === 'unheard-of' ? spent.totalTokens : 0)
        }
      }),
      { numRuns: 12 },
    )
  })
})
