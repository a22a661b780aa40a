import type { DatabaseAddress } from '#db/sql.ts'
import { callersDo } from '../kit/rounds.ts'
import { loadPeer } from './installed.ts'
import { PEER_CONNECTIONS, pgConfig, stopwatch } from './peer.ts'
import type { Peer } from './peer.ts'

interface Job {
  id: string
  retryCount: number
  data: { n: number }
}

interface PgBoss {
  start: () => Promise<unknown>
  stop: (options: { graceful: boolean }) => Promise<void>
  createQueue: (name: string, options: object) => Promise<void>
  insert: (name: string, jobs: object[]) => Promise<unknown>
  send: (name: string, data: object) => Promise<unknown>
  fetch: (name: string, options: object) => Promise<Job[]>
  complete: (name: string, jobs: Job | Job[]) => Promise<unknown>
  work: (name: string, options: object, work: (jobs: Job[]) => Promise<void>) => Promise<string>
  offWork: (name: string) => Promise<void>
  on: (event: string, listener: (error: unknown) => void) => void
}

const BATCH = 100

/** Fetches and completes as its own workers do: complete() is told which attempt it was. */
export async function startPgBoss(address: DatabaseAddress): Promise<Peer> {
  const { PgBoss } = loadPeer('pg-boss') as { PgBoss: new (options: object) => PgBoss }
  const boss = new PgBoss({
    ...pgConfig(address),
    max: PEER_CONNECTIONS,
    useListenNotify: true,
    supervise: false,
    schedule: false,
  })
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${String(error)}\n`))
  await boss.start()
  let queues = 0
  const newQueue = async (options: object = {}) => {
    const name = `bench-${(queues += 1)}`
    await boss.createQueue(name, options)
    return name
  }
  const drain = (batchSize: number) => async (callers: number, count: number) => {
    const queue = await newQueue()
    await boss.insert(
      queue,
      Array.from({ length: count }, (_, n) => ({ data: { n } })),
    )
    const { seconds } = await callersDo(callers, count / batchSize, async () => {
      const jobs = await boss.fetch(queue, { batchSize, includeMetadata: true })
      await boss.complete(queue, jobs)
    })
    return count / seconds
  }
  return {
    drain: { 'one by one': drain(1), [`batches of ${BATCH}`]: drain(BATCH) },
    async latency(workers, count) {
      const queue = await newQueue({ notify: true })
      const watch = stopwatch()
      const options = { localConcurrency: workers, pollingIntervalSeconds: 2 }
      await boss.work(queue, options, (jobs) => {
        for (const { data } of jobs) watch.begun(data.n)
        return Promise.resolve()
      })
      const times = await watch.measure(count, (n) => boss.send(queue, { n }))
      await boss.offWork(queue)
      return times
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
  }
}
