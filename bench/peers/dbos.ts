import { databaseUrl } from '#db/address.ts'
import type { DatabaseAddress } from '#db/sql.ts'
import { callersDo } from '../kit/rounds.ts'
import { loadPeer } from './installed.ts'
import { countdown, PEER_CONNECTIONS, pgConfig, stopwatch } from './peer.ts'
import type { Peer } from './peer.ts'

interface Handle {
  getResult: () => Promise<unknown>
}

type Work = (n: number) => Promise<void>

interface Dbos {
  setConfig: (config: object) => void
  registerWorkflow: (work: Work, options: { name: string }) => Work
  registerQueue: (name: string, options: object) => Promise<unknown>
  startWorkflow: (work: Work, options?: object) => (n: number) => Promise<Handle>
  launch: () => Promise<void>
  shutdown: () => Promise<void>
}

interface Pg {
  Pool: new (options: object) => {
    end: () => Promise<void>
    on: (e: string, l: () => void) => void
  }
}

/** A process has one DBOS, so it is started once. Its queues are polled, here ten times a second. */
export async function startDbos(address: DatabaseAddress): Promise<Peer> {
  const { DBOS } = loadPeer('@dbos-inc/dbos-sdk') as { DBOS: Dbos }
  const { Pool } = loadPeer('pg') as Pg
  const systemDatabasePool = new Pool({ ...pgConfig(address), max: PEER_CONNECTIONS })
  systemDatabasePool.on('error', () => {})
  let onWork: (n: number) => void = idle
  const work = DBOS.registerWorkflow((n) => Promise.resolve(onWork(n)), { name: 'bench' })
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: databaseUrl(address),
    systemDatabasePool,
    runAdminServer: false,
    logLevel: 'error',
  })
  await DBOS.launch()
  let queues = 0
  return {
    drain: {
      async 'one by one'(callers, count) {
        onWork = idle
        const { seconds } = await callersDo(callers, count, async (_, n) => {
          const handle = await DBOS.startWorkflow(work)(n)
          await handle.getResult()
        })
        return count / seconds
      },
      async 'queue, polled in batches'(callers, count) {
        const queueName = `bench-${(queues += 1)}`
        const { begin, done, rate } = countdown(count)
        onWork = begin
        const handles: Handle[] = []
        for (let n = 0; n < count; n += 1) {
          handles.push(await DBOS.startWorkflow(work, { queueName })(n))
        }
        await DBOS.registerQueue(queueName, options(callers))
        for (const handle of handles) void handle.getResult().then(done)
        return await rate
      },
    },
    async latency(workers, count) {
      const queueName = `bench-${(queues += 1)}`
      const watch = stopwatch()
      onWork = watch.begun
      await DBOS.registerQueue(queueName, options(workers))
      return await watch.measure(count, (n) => DBOS.startWorkflow(work, { queueName })(n))
    },
    async [Symbol.asyncDispose]() {
      await DBOS.shutdown()
      await systemDatabasePool.end()
    },
  }
}

function idle(): void {}

function options(workerConcurrency: number) {
  return { workerConcurrency, minPollingIntervalMs: 100 }
}
