import { setTimeout as sleep } from 'node:timers/promises'
import { connect, transaction } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { createListener } from '#events/listener.ts'
import { createNotifier } from '#events/notify.ts'
import { AppError } from '#lib/errors.ts'
import { createTask } from '#work/create-task.ts'
import { selectAvailableTasks } from '#work/task-list.sql.ts'
import { newFleet, newTasks } from '../kit/fleet.ts'
import type { Agent, Fleet } from '../kit/fleet.ts'
import { callersDo } from '../kit/rounds.ts'
import { stopwatch } from '../peers/peer.ts'
import type { Peer } from '../peers/peer.ts'
import { claim, finish, start, succeed } from './work.ts'

const CONNECTIONS = 34

/** The product itself, at the layer of its commands: what the API does, without HTTP. */
export async function startStrata(address: DatabaseAddress): Promise<Peer> {
  const db = connect(address, { maxConnections: CONNECTIONS, appName: 'strata-bench' })
  const fleets = new Map<number, Promise<Fleet>>()
  const drain =
    (work: (agent: Agent, taskId: string) => Promise<void>) =>
    async (callers: number, count: number) => {
      const fleet = fleets.get(callers) ?? newFleet(db, callers)
      fleets.set(callers, fleet)
      const { admin, agents } = await fleet
      const ids = await newTasks(db, admin.ctx, count)
      const { seconds } = await callersDo(callers, count, async (caller, index) => {
        const [agent, id] = [agents[caller], ids[index]]
        if (agent && id !== undefined) await work(agent, id)
      })
      return count / seconds
    }
  return {
    drain: {
      'one by one': drain(async (agent, id) => {
        await finish(db, agent, await claim(db, agent, id))
      }),
      'with a run': drain(async (agent, id) => {
        const held = await claim(db, agent, id)
        const runId = await start(db, agent, held)
        await succeed(db, agent, { id: runId, fencingToken: held.fencingToken })
      }),
    },
    latency: (workers, count) => latency(db, address, workers, count),
    [Symbol.asyncDispose]: () => db.end({ timeout: 1 }),
  }
}

function onError(error: unknown): never {
  throw error
}

/** Workers that are woken by the journal's channel, look for work, claim it and start a run. */
async function latency(
  db: Database,
  address: DatabaseAddress,
  workers: number,
  count: number,
): Promise<number[]> {
  const { admin, agents } = await newFleet(db, workers)
  const watch = stopwatch()
  const onWake = () => {
    for (const agent of agents) void takeOne(db, agent, watch.begun).catch(onError)
  }
  await using notifier = createNotifier(db, onError)
  await using listener = createListener({ address, onWake, onError })
  listener.open()
  await listening(db)
  return await watch.measure(count, async (n) => {
    const { tenantId } = admin.ctx
    await transaction(db, 'read write', (sql) => createTask(sql, admin.ctx, { title: String(n) }))
    notifier.notify(tenantId)
  })
}

async function takeOne(db: Database, agent: Agent, begun: (n: number) => void): Promise<void> {
  const page = { listing: 'bench', limit: 1, after: undefined }
  const [task] = await selectAvailableTasks(db, agent.ctx, { page })
  if (!task) return
  try {
    await start(db, agent, await claim(db, agent, task.id))
    begun(Number(task.title))
  } catch (error) {
    // Another worker was faster.
    if (!(error instanceof AppError)) throw error
  }
}

/** Returns once a connection listens. */
async function listening(db: Database): Promise<void> {
  for (;;) {
    const [row] = await db`
      select 1
      from pg_stat_activity
      where datname = current_database()
        and query ilike 'listen%'
        and state = 'idle'`
    if (row) return
    await sleep(10)
  }
}
