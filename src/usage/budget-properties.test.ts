import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readPrincipalBudget, readProjectBudget } from '#accounting/read-budgets.ts'
import { updatePrincipalBudget } from '#accounting/update-principal-budget.ts'
import { transaction } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { createChildHandle } from '#run-control/create-child-handle.ts'
import { narrowCaller } from '#run-control/narrow-caller.ts'
import { selectRun } from '#runs/run.sql.ts'
import { startRun } from '#runs/start-run.ts'
import { failRun } from '#runs/stop-run.ts'
import { createTask } from '#work/create-task.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow } from '../../test/support/leases.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { reportUsage } from './report-usage.ts'

const db = await sharedDb()

/** In the upper project, in the one below it, and outside both. */
const PLACES = ['upper', 'lower', 'outside'] as const
type Place = (typeof PLACES)[number]

type Step =
  | { kind: 'start'; place: Place; asked: number | null }
  | { kind: 'child'; run: number; asked: number | null }
  | { kind: 'report'; run: number; tokens: number }
  | { kind: 'end'; run: number }

const asked = fc.option(fc.integer({ min: 1, max: 30 }))
const place = fc.constantFrom(...PLACES)
/** Which of the runs that there are. */
const which = fc.nat(9)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('start' as const), place, asked }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('child' as const), run: which, asked }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('report' as const), run: which, tokens: fc.nat(12) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), run: which }) },
)
const bound = fc.option(fc.integer({ min: 0, max: 60 }), { freq: 3 })
const stories = fc.record({
  bounds: fc.record({ upper: bound, lower: bound, principal: bound }),
  steps: fc.array(step, { minLength: 8, maxLength: 16 }),
})
type Bounds = Record<'upper' | 'lower' | 'principal', number | null>

interface ModelRun {
  place: Place
  max: number | null
  used: number
  isLive: boolean
  above: ModelRun[]
}

const PROJECTS_OF = { upper: ['upper'], lower: ['upper', 'lower'], outside: [] } as const
const COVERED_BY: Readonly<Record<keyof Bounds, readonly Place[]>> = {
  upper: ['upper', 'lower'],
  lower: ['lower'],
  principal: PLACES,
}

/** What budgets mean, without a database: every number is worked out from all runs anew. */
function newModel(bounds: Bounds) {
  const runs: ModelRun[] = []
  const treeUsed = (run: ModelRun) =>
    runs
      .filter((other) => other === run || other.above.includes(run))
      .reduce((sum, { used }) => sum + used, 0)
  const restOf = (run: ModelRun) => Math.max(0, (run.max ?? 0) - treeUsed(run))
  const leftOf = (run: ModelRun): number | null => {
    const bounding = [...run.above, run].filter(({ max }) => max !== null)
    return bounding.length > 0 ? Math.min(...bounding.map(restOf)) : null
  }
  /** Used and reserved under a bound. */
  const standing = (name: keyof Bounds) => {
    const within = runs.filter((run) => COVERED_BY[name].includes(run.place))
    const holders = within
      .filter(({ isLive }) => isLive)
      .flatMap((run) => [...run.above, run].find(({ max }) => max !== null) ?? [])
    return {
      used: within.reduce((sum, { used }) => sum + used, 0),
      reserved: [...new Set(holders)].reduce((sum, run) => sum + restOf(run), 0),
    }
  }
  /** Starts a run, or does not; tells which. */
  const start = (where: Place, wish: number | null, parent?: ModelRun): ModelRun | undefined => {
    const inherited = parent ? leftOf(parent) : null
    if (inherited === 0) return undefined
    const above = parent ? [...parent.above, parent] : []
    const isCovered = above.some(({ max }) => max !== null)
    const least = [wish, inherited].filter((one) => one !== null)
    let max = least.length > 0 ? Math.min(...least) : null
    const rests = [...PROJECTS_OF[where], 'principal' as const].flatMap((name) => {
      const { used, reserved } = standing(name)
      return bounds[name] === null || isCovered ? [] : [bounds[name] - used - reserved]
    })
    if (rests.length > 0) {
      const rest = Math.min(...rests)
      if (rest <= 0 || (max !== null && max > rest)) return undefined
      max ??= rest
    }
    const run = { place: where, max, used: 0, isLive: true, above }
    runs.push(run)
    return run
  }
  return { runs, bounds, leftOf, standing, start }
}

type Model = ReturnType<typeof newModel>

interface RealRun {
  id: string
  /** Shows the handle of a child. */
  caller: Ctx
  reports: number
}

function rules(limit: number | null) {
  return { config: { governance: limit === null ? {} : { maxTotalTokens: limit } } }
}

/** The same through the commands of the product. */
async function realWorld(bounds: Bounds) {
  const ctx = await testCtx(db)
  const tree = projectsOf(db, ctx)
  const upper = await tree.place(null, rules(bounds.upper))
  // A bound that is weaker than the one above is refused, and would bound nothing.
  const isWeaker = bounds.upper !== null && (bounds.lower ?? Infinity) > bounds.upper
  const lower = await tree.place(upper.workspaceId, rules(isWeaker ? null : bounds.lower))
  const outside = await tree.addWorkspace()
  const write = <T>(work: (sql: Sql) => Promise<T>) => transaction(db, 'read write', work)
  await write((sql) =>
    updatePrincipalBudget(sql, ctx, {
      id: ctx.actorId,
      expectedVersion: 1,
      maxMonthTokens: bounds.principal,
    }),
  )
  const workspaces = { upper: upper.workspaceId, lower: lower.workspaceId, outside }
  const begin = async (caller: Ctx, ref: string, maxTokens: number | null): Promise<RealRun> => {
    const claim = await claimNow(db, caller, { ref })
    const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
    const wish = maxTokens === null ? {} : { maxTokens }
    const { id } = await write((sql) => startRun(sql, caller, { ref, ...fence, ...wish }))
    return { id, caller, reports: 0 }
  }
  return {
    ctx,
    bounds: { ...bounds, lower: isWeaker ? null : bounds.lower },
    start: async (where: Place, wish: number | null) => {
      const workspaceId = workspaces[where]
      const task = await write((sql) => createTask(sql, ctx, { title: 'work', workspaceId }))
      return await begin(ctx, task.id, wish)
    },
    child: async (parent: RealRun, wish: number | null) => {
      const made = await write((sql) =>
        createChildHandle(sql, parent.caller, {
          id: parent.id,
          fencingToken: 1,
          correlationId: newId(),
          title: 'part of it',
          description: '',
          cancellationPolicy: 'detach',
          grant: { permissions: ['tasks.claim', 'tasks.read', 'tasks.write', 'sessions.open'] },
        }),
      )
      const caller = await narrowCaller(db, ctx, made.token ?? '')
      return await begin(caller, made.child.taskId, wish)
    },
    report: async (run: RealRun, tokens: number) => {
      run.reports += 1
      const none = { output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, reportedUsd: null }
      const line = { ...none, provider: null, model: 'large', input: tokens }
      const report = { sequence: run.reports, mode: 'delta', lines: [line] } as const
      await write((sql) => reportUsage(sql, run.caller, { ...report, id: run.id, fencingToken: 1 }))
    },
    end: (run: RealRun) => write((sql) => failRun(sql, ctx, { id: run.id, reason: 'over' })),
    standing: async () => {
      const { caps } = await readProjectBudget(db, ctx, lower.project.id)
      const own = await readPrincipalBudget(db, ctx, ctx.actorId)
      return [...caps, ...own.caps].map(({ used, reserved }) => ({ used, reserved }))
    },
  }
}

function refusal(error: unknown): undefined {
  const codes = ['budget_exceeded', 'child_grant_exceeds_parent']
  if (error instanceof AppError && codes.includes(error.code)) return undefined
  throw error
}

describe('budgets', () => {
  it('are those of a model of all runs, and no bound is ever overshot by what is reserved', async () => {
    await fc.assert(
      fc.asyncProperty(stories, async ({ bounds, steps }) => {
        const real = await realWorld(bounds)
        const model = newModel(real.bounds)
        const runs: RealRun[] = []
        const names = (['upper', 'lower', 'principal'] as const).filter(
          (name) => real.bounds[name] !== null && isOwn(real.bounds, name),
        )
        for (const one of steps) {
          await take(one, { real, model, runs })
          assert.deepEqual(await real.standing(), names.map(model.standing))
        }
        for (const [index, expected] of model.runs.entries()) {
          const row = await selectRun(db, real.ctx, runs[index]?.id ?? '')
          const { max } = expected
          assert.deepEqual([row?.maxTokens, row?.tokensLeft], [max, model.leftOf(expected)])
        }
      }),
      { numRuns: 8 },
    )
  })
})

/** A project that sets the very bound that holds above it is bounded there. */
function isOwn(bounds: Bounds, name: keyof Bounds): boolean {
  return name !== 'lower' || bounds.lower !== bounds.upper
}

async function take(
  one: Step,
  {
    real,
    model,
    runs,
  }: { real: Awaited<ReturnType<typeof realWorld>>; model: Model; runs: RealRun[] },
): Promise<void> {
  if (one.kind === 'start') {
    const started = await real.start(one.place, one.asked).catch(refusal)
    const expected = model.start(one.place, one.asked)
    assert.equal(started !== undefined, expected !== undefined, JSON.stringify(one))
    if (started) runs.push(started)
    if (expected) checkBounds(model, expected)
    return
  }
  const index = one.run % runs.length
  const [held, known] = [runs[index], model.runs[index]]
  if (!held || !known?.isLive) return
  if (one.kind === 'child') {
    const started = await real.child(held, one.asked).catch(refusal)
    const expected = model.start(known.place, one.asked, known)
    assert.equal(started !== undefined, expected !== undefined, JSON.stringify(one))
    if (started) runs.push(started)
    if (expected) checkBounds(model, expected)
  } else if (one.kind === 'report') {
    await real.report(held, one.tokens)
    known.used += one.tokens
  } else {
    await real.end(held)
    known.isLive = false
  }
}

/** After a start nothing is over a bound that applies to it, unless runs had used more than they had. */
function checkBounds(model: Model, { place: where, above }: ModelRun): void {
  if (above.length > 0) return
  for (const name of [...PROJECTS_OF[where], 'principal'] as const) {
    const { used, reserved } = model.standing(name)
    assert.ok(used + reserved <= (model.bounds[name] ?? Infinity), name)
  }
}
