import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import { newFleet, newTasks } from '../kit/fleet.ts'
import type { Agent, Fleet } from '../kit/fleet.ts'
import type { Report } from '../kit/report.ts'
import { interleave } from '../kit/rounds.ts'
import type { BenchServer } from '../kit/server.ts'
import { median, number, spread, summary } from '../kit/stats.ts'
import { prepare, record, replay } from './replay.ts'
import type { Recording } from './replay.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { claim, finish } from './work.ts'

const OPERATIONS = ['claim', 'finish', 'append'] as const
type Operation = (typeof OPERATIONS)[number]
/** Milliseconds of each operation in one round, on average. */
type Times = Record<Operation, number>

/** Our commands, and the very same statements in a loop that does nothing else. */
export async function loop(server: BenchServer, report: Report, args: BenchArgs): Promise<void> {
  const { open } = await server.controlPlane('loop')
  const rows: string[][] = []
  for (const callers of [1, 8]) {
    report.progress(`the statements alone at ${callers} callers`)
    const db = open(callers)
    const fleet = await newFleet(db, callers)
    const recordings = await recordAll(open(1), fleet)
    const count = (callers === 1 ? 120 : 400) / (args.quick ? 20 : 1)
    const times = new Map<string, Times[]>()
    const caseOf = (name: string, work: Work) => ({
      name,
      async run(round: number) {
        const measured = await measure({ db, fleet, callers, count }, work)
        if (round >= 0) times.set(name, [...(times.get(name) ?? []), measured])
        return 0
      },
    })
    const cases = [caseOf('commands', commands(db)), caseOf('loop', bare(db, recordings))]
    await interleave(cases, effortOf(args, 3), () => server.settle())
    for (const operation of OPERATIONS) {
      const of = (name: string) => (times.get(name) ?? []).map((each) => each[operation])
      const ratio = of('loop').map((ms, round) => ms / (of('commands')[round] ?? Number.NaN))
      rows.push([
        `${operation} at ${callers} callers`,
        spread(summary(of('commands'))),
        spread(summary(of('loop'))),
        number(median(ratio)),
      ])
      report.target({
        name: `${operation} at ${callers} callers, to its statements alone`,
        value: median(ratio),
        unit: 'times',
        atLeast: 0.7,
      })
    }
  }
  report.table({
    title: 'Milliseconds of one command, and of its statements in a bare postgres.js loop',
    columns: ['', 'command', 'loop', 'share of the speed'],
    rows,
    notes: ['The loop sends what the command sent, together where that did, and reads no answer.'],
  })
}

/** The three operations on one task, ready to be timed. */
type Work = (agent: Agent, taskId: string) => Record<Operation, () => Promise<void>>

function commands(db: Database): Work {
  return (agent, taskId) => {
    let held: ClaimRow | undefined
    return {
      async claim() {
        held = await claim(db, agent, taskId)
      },
      finish: () => (held ? finish(db, agent, held) : Promise.reject(new Error('no claim'))),
      async append() {
        await append(db, agent, taskId)
      },
    }
  }
}

/** Every caller asks what the agent that was recorded asked, in its own name and session. */
function bare(db: Database, recordings: Recordings): Work {
  const { agent: was, taskId: recorded } = recordings
  return (agent, taskId) => {
    const ids = new Map([
      [recorded, taskId],
      [was.sessionId, agent.sessionId],
      ...NAMES.map((name): [string, string] => [was.ctx[name], agent.ctx[name]]),
    ])
    const statements = OPERATIONS.map((operation) => prepare(db, recordings[operation], ids))
    const [one = [], two = [], three = []] = statements
    return {
      claim: () => replay(db, one),
      finish: () => replay(db, two),
      append: () => replay(db, three),
    }
  }
}

const NAMES = ['tenantId', 'actorId', 'requestId', 'correlationId', 'traceRunId'] as const

function append(db: Database, { ctx }: Agent, entityId: string): Promise<string> {
  return transaction(db, 'read write', async (sql) => {
    await lockEntities(sql, ctx, [{ type: 'task', id: entityId }])
    return await appendEvent(sql, ctx, {
      type: 'task.completed',
      entityType: 'task',
      entityId,
      entityVersion: 3,
      workspaceId: null,
      payload: { publicId: 'TASK-000001', version: 3 },
    })
  })
}

type Recordings = Record<Operation, Recording> & { taskId: string; agent: Agent }

async function recordAll(db: Database, { admin, agents }: Fleet): Promise<Recordings> {
  const [agent] = agents
  const tasks = await newTasks(db, admin.ctx, 3)
  if (!agent) throw new Error('no agent')
  let recordings: Recordings | undefined
  // Only the last is kept: a connection asks differently for what it does not know yet.
  for (const taskId of tasks) {
    const claimed = await record(db, () => claim(db, agent, taskId))
    const finished = await record(db, () => finish(db, agent, claimed.result))
    const appended = await record(db, () => append(db, agent, taskId))
    const [one, two, three] = [claimed.recording, finished.recording, appended.recording]
    recordings = { claim: one, finish: two, append: three, taskId, agent }
  }
  if (!recordings) throw new Error('nothing recorded')
  return recordings
}

/** Each caller has its own tasks, in the order of their making. */
async function measure(
  { db, fleet, callers, count }: { db: Database; fleet: Fleet; callers: number; count: number },
  work: Work,
): Promise<Times> {
  const ids = await newTasks(db, fleet.admin.ctx, count)
  const all = ids.map((id, index) => work(fleet.agents[index % callers] as Agent, id))
  const sums: Times = { claim: 0, finish: 0, append: 0 }
  await Promise.all(
    fleet.agents.map(async (_, caller) => {
      for (let index = caller; index < count; index += callers) {
        for (const operation of OPERATIONS) {
          const start = performance.now()
          await all[index]?.[operation]()
          sums[operation] += performance.now() - start
        }
      }
    }),
  )
  return {
    claim: sums.claim / count,
    finish: sums.finish / count,
    append: sums.append / count,
  }
}
