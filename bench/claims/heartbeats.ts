import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { heartbeatClaim } from '#work/heartbeat-claim.ts'
import { heartbeatSession } from '#work/heartbeat-session.ts'
import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import { newFleet, newTasks } from '../kit/fleet.ts'
import type { Agent, Fleet } from '../kit/fleet.ts'
import type { Report } from '../kit/report.ts'
import { callersDo, interleave } from '../kit/rounds.ts'
import type { BenchServer } from '../kit/server.ts'
import { medianRatio, quantile, spread, summary } from '../kit/stats.ts'
import { claim, finish } from './work.ts'

const CALLERS = 8
/** A third of a lease of 30 s. */
const BEAT_SECONDS = 10

/** Claims while nobody else is there, and while 200 sessions renew their own leases and those of their claims. */
export async function heartbeats(
  server: BenchServer,
  report: Report,
  args: BenchArgs,
): Promise<void> {
  const [sessions, count] = args.quick ? [20, 24] : [200, 400]
  const { open } = await server.controlPlane('heartbeats')
  const db = open(CALLERS)
  const others = open(4)
  report.progress(`${sessions} sessions`)
  const fleet = await newFleet(db, CALLERS)
  const beating = await newFleet(db, sessions)
  const claims = await claimOneEach(db, beating)
  let beats = 0
  const measure = async () => {
    const ids = await newTasks(db, fleet.admin.ctx, count)
    const times: number[] = []
    await callersDo(CALLERS, count, async (caller, index) => {
      const [agent, id] = [fleet.agents[caller], ids[index]]
      if (!agent || id === undefined) return
      const start = performance.now()
      const held = await claim(db, agent, id)
      times.push(performance.now() - start)
      await finish(db, agent, held)
    })
    return quantile(times, 0.95)
  }
  const alone = { name: 'alone', run: measure }
  const among = {
    name: `among ${sessions} sessions`,
    async run() {
      const stop = beat(others, beating.agents, claims, () => (beats += 1))
      try {
        return await measure()
      } finally {
        await stop()
      }
    },
  }
  const samples = await interleave([alone, among], effortOf(args, 5), () => server.settle())
  report.table({
    title: `A claim at ${CALLERS} callers: p95 in milliseconds, median (min..max) of paired rounds`,
    columns: ['', 'p95'],
    rows: [...samples].map(([name, values]) => [name, spread(summary(values))]),
    notes: [
      `Each of the ${sessions} renews its session and its claim every ${BEAT_SECONDS} s: ${(2 * sessions) / BEAT_SECONDS} renewals a second, ${beats} in all.`,
    ],
  })
  report.target({
    name: `p95 of a claim among ${sessions} sessions, to alone`,
    value: medianRatio(samples.get(among.name) ?? [], samples.get(alone.name) ?? []),
    unit: 'times',
    atMost: 1.25,
  })
}

async function claimOneEach(db: Database, { admin, agents }: Fleet): Promise<ClaimRow[]> {
  const ids = await newTasks(db, admin.ctx, agents.length)
  const claims: ClaimRow[] = []
  for (const [index, agent] of agents.entries()) {
    claims.push(await claim(db, agent, ids[index] ?? ''))
  }
  return claims
}

/** Every agent renews its two leases in turn, evenly spread over the time. @returns what ends it */
function beat(
  db: Database,
  agents: readonly Agent[],
  claims: readonly ClaimRow[],
  onBeat: () => void,
): () => Promise<void> {
  const going = new Set<Promise<void>>()
  let next = 0
  const timer = setInterval(
    () => {
      const index = next++ % agents.length
      const [agent, held] = [agents[index], claims[index]]
      if (!agent || !held) return
      const done = renew(db, agent, held).then(() => {
        onBeat()
        going.delete(done)
      })
      going.add(done)
    },
    (BEAT_SECONDS * 1000) / agents.length,
  )
  return async () => {
    clearInterval(timer)
    await Promise.all(going)
  }
}

async function renew(db: Database, { ctx, sessionId }: Agent, held: ClaimRow): Promise<void> {
  const { id, fencingToken } = held
  const ttlSeconds = undefined
  await transaction(db, 'read write', (sql) =>
    heartbeatSession(sql, ctx, { id: sessionId, ttlSeconds }),
  )
  await transaction(db, 'read write', (sql) =>
    heartbeatClaim(sql, ctx, { id, fencingToken, ttlSeconds }),
  )
}
