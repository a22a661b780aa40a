import type { DatabaseAddress } from '#db/sql.ts'
import { loadPeer } from './installed.ts'
import { countdown, PEER_CONNECTIONS, pgConfig, stopwatch } from './peer.ts'
import type { Peer } from './peer.ts'

interface Runner {
  stop: () => Promise<void>
  events: { on: (event: string, listener: () => void) => void }
}

interface WorkerUtils {
  migrate: () => Promise<void>
  addJob: (task: string, payload: object) => Promise<unknown>
  addJobs: (jobs: { identifier: string; payload: object }[]) => Promise<unknown>
  release: () => Promise<void>
}

interface GraphileWorker {
  Logger: new (factory: () => () => void) => unknown
  makeWorkerUtils: (options: object) => Promise<WorkerUtils>
  run: (options: object) => Promise<Runner>
}

interface Pg {
  Pool: new (options: object) => {
    end: () => Promise<void>
    on: (e: string, l: () => void) => void
  }
}

const TASK = 'bench'
const BATCH = 100

/** Its workers fetch and complete job by job unless told to keep a local queue. */
export async function startGraphileWorker(address: DatabaseAddress): Promise<Peer> {
  const { Logger, makeWorkerUtils, run } = loadPeer('graphile-worker') as GraphileWorker
  const { Pool } = loadPeer('pg') as Pg
  const pgPool = new Pool({ ...pgConfig(address), max: PEER_CONNECTIONS })
  pgPool.on('error', () => {})
  pgPool.on('connect', () => {})
  const common = { pgPool, logger: new Logger(() => () => {}), noHandleSignals: true }
  const utils = await makeWorkerUtils(common)
  await utils.migrate()
  const start = (concurrency: number, task: (payload: { n: number }) => void, preset: object) => {
    const taskList = { [TASK]: (payload: { n: number }) => Promise.resolve(task(payload)) }
    return run({ ...common, concurrency, taskList, preset })
  }
  const drain = (preset: object) => async (callers: number, count: number) => {
    const { begin, done, rate } = countdown(count)
    const jobs = Array.from({ length: count }, (_, n) => ({ identifier: TASK, payload: { n } }))
    const runner = await start(callers, begin, preset)
    runner.events.on('job:complete', done)
    await utils.addJobs(jobs)
    const perSecond = await rate
    await runner.stop()
    return perSecond
  }
  return {
    drain: {
      'one by one': drain({}),
      [`local queue of ${BATCH}`]: drain({
        worker: { localQueue: { size: BATCH }, completeJobBatchDelay: 0 },
      }),
    },
    async latency(workers, count) {
      const watch = stopwatch()
      const runner = await start(workers, ({ n }) => watch.begun(n), {})
      const times = await watch.measure(count, (n) => utils.addJob(TASK, { n }))
      await runner.stop()
      return times
    },
    async [Symbol.asyncDispose]() {
      await utils.release()
      await pgPool.end()
    },
  }
}
