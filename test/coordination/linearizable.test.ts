import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDb } from '../support/db.ts'
import { faultsOf } from './history.ts'
import type { Call, Entry } from './history.ts'
import { commandsOf } from './replay.ts'
import type { Done } from './replay.ts'

const WORKERS = 6
const ROUNDS = Number(process.env['HISTORY_ROUNDS'] ?? 12)
const WORKS = ['sessions.open', 'tasks.read', 'tasks.write', 'tasks.claim'] as const

/** What one worker does next: with the claim it has, or to get one. */
const DEEDS = [
  'claim',
  'write',
  'write',
  'write',
  'release',
  'forget',
  'take over',
  'reap',
] as const
type Deed = (typeof DEEDS)[number]
interface Turn {
  deed: Deed
  task: number
}

const turns = fc.array(fc.record({ deed: fc.constantFrom(...DEEDS), task: fc.nat(1) }), {
  minLength: 25,
  maxLength: 25,
})

interface Hold {
  taskId: string
  claimId: string
  token: number
  runId: string
}

interface Stage {
  db: Database
  admin: Ctx
  tasks: string[]
  calls: Call[]
  commands: ReturnType<typeof commandsOf>
}

async function timed(act: () => Promise<Done>) {
  const calledAt = performance.now()
  const done = await act()
  return { done, calledAt, answeredAt: performance.now() }
}

/** Lives through its turns at its own pace; what it believes to hold may be lost long ago. */
async function work(stage: Stage, ctx: Ctx, script: readonly Turn[]): Promise<void> {
  const { commands } = stage
  const { id: sessionId = '' } = await commands.openSession(ctx)
  let hold: Hold | undefined
  for (const { deed, task } of script) {
    const taskId = stage.tasks[task] ?? ''
    if (deed === 'reap') await commands.reap()
    else if (deed === 'take over') await letLeaseEnd(stage, taskId)
    else if (deed === 'forget') hold = undefined
    else if (!hold) hold = await claim(stage, ctx, { taskId, sessionId })
    else if (deed === 'release') {
      await release(stage, ctx, hold)
      hold = undefined
    } else await write(stage, ctx, hold)
  }
}

async function claim(
  stage: Stage,
  ctx: Ctx,
  { taskId, sessionId }: { taskId: string; sessionId: string },
): Promise<Hold | undefined> {
  const { commands, calls } = stage
  const { done, ...times } = await timed(() => commands.claim(ctx, taskId, sessionId))
  const claimId = done.id
  if (claimId === undefined) {
    if (done.outcome === 'task_already_claimed') {
      calls.push({ kind: 'claim', taskId, token: undefined, place: undefined, ...times })
    }
    return undefined
  }
  const token = await tokenOf(stage, claimId)
  calls.push({ kind: 'claim', taskId, token, place: undefined, ...times })
  const fence = { claimId, fencingToken: token }
  const { id: runId } = await commands.startRun(ctx, taskId, fence)
  return runId === undefined ? undefined : { taskId, claimId, token, runId }
}

async function write({ commands, calls }: Stage, ctx: Ctx, hold: Hold): Promise<void> {
  const { taskId, runId, token } = hold
  const { done, ...times } = await timed(() => commands.checkpoint(ctx, runId, token))
  if (done.outcome === 'ok')
    calls.push({ kind: 'write', taskId, token, place: undefined, ...times })
}

async function release({ commands, calls }: Stage, ctx: Ctx, hold: Hold): Promise<void> {
  const { taskId, runId, token } = hold
  const { done, ...times } = await timed(() => commands.suspend(ctx, runId, token))
  if (done.outcome === 'ok') calls.push({ kind: 'end', taskId, token, place: undefined, ...times })
}

async function letLeaseEnd({ db, admin }: Stage, taskId: string): Promise<void> {
  await db`
    update claims
    set expires_at = clock_timestamp()
    where tenant_id = ${admin.tenantId}
      and task_id = ${taskId}
      and status = 'active'`
}

async function tokenOf({ db, admin }: Stage, claimId: string): Promise<number> {
  const [row] = await db<{ token: number }[]>`
    select fencing_token as token
    from claims
    where tenant_id = ${admin.tenantId}
      and id = ${claimId}`
  return row?.token ?? 0
}

/** What the journal says of a task, in its order. */
async function recordOf({ db, admin }: Stage, taskId: string): Promise<Entry[]> {
  return await db<Entry[]>`
    select case e.type
             when 'task.claimed' then 'claim'
             when 'run.checkpoint_recorded' then 'write'
             else 'end' end as kind,
           coalesce((e.payload ->> 'fencingToken')::int, r.fencing_token) as token
    from events e
    left join runs r on r.tenant_id = e.tenant_id and r.id::text = e.entity_id
    where e.tenant_id = ${admin.tenantId}
      and e.type in ('task.claimed', 'claim.released', 'claim.expired', 'run.checkpoint_recorded')
      and coalesce(e.payload ->> 'taskId', e.entity_id) = ${taskId}
    order by e.journal_epoch, e.tx_id, e.sequence`
}

/** Calls with their places: a claim and an end by token, the n-th write of a token by its n-th entry. */
function placed(entries: readonly Entry[], calls: readonly Call[]): Call[] {
  const used = new Set<number>()
  return calls
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map((call) => {
      const place = entries.findIndex(
        ({ kind, token }, at) => kind === call.kind && token === call.token && !used.has(at),
      )
      if (place < 0) return call
      used.add(place)
      return { ...call, place }
    })
}

describe('the history of claims', () => {
  it('is that of one lock, whatever happens at once', { timeout: 120_000 }, async (t) => {
    const db = await ownDb(t, 'control-plane')
    let claims = 0
    let refused = 0
    const scripts = fc.array(turns, { minLength: WORKERS, maxLength: WORKERS })
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const tenant = await testTenant(db)
        const commands = commandsOf(db)
        const made = [await commands.createTask(tenant.ctx), await commands.createTask(tenant.ctx)]
        const tasks = made.map(({ id = '' }) => id)
        const stage: Stage = { db, admin: tenant.ctx, tasks, calls: [], commands }
        const workers = await Promise.all(script.map(() => tenant.caller(WORKS)))

        await Promise.all(workers.map(({ ctx }, index) => work(stage, ctx, script[index] ?? [])))

        for (const taskId of tasks) {
          const entries = await recordOf(stage, taskId)
          const calls = stage.calls.filter((call) => call.taskId === taskId)
          const found = placed(entries, calls)
          const lost = found.filter(
            ({ token, place }) => token !== undefined && place === undefined,
          )
          assert.deepEqual(lost, [], 'an acknowledged call left no trace')
          assert.deepEqual(faultsOf(entries, found), [])
          claims += entries.filter(({ kind }) => kind === 'claim').length
          refused += calls.filter(({ token }) => token === undefined).length
        }
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    )
    assert.ok(claims > ROUNDS * 4 && refused > ROUNDS, `${claims} claims, ${refused} refused`)
  })
})
