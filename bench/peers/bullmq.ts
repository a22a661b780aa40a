import type { DatabaseAddress } from '#db/sql.ts'
import { callersDo } from '../kit/rounds.ts'
import { loadPeer } from './installed.ts'
import { countdown, PEER_CONNECTIONS, pgConfig, stopwatch } from './peer.ts'
import type { Peer } from './peer.ts'

interface Job {
  data: { n: number }
  moveToCompleted: (result: unknown, token: string, fetchNext: boolean) => Promise<unknown>
}

interface Queue {
  add: (name: string, data: object) => Promise<unknown>
  addBulk: (jobs: { name: string; data: object }[]) => Promise<unknown>
  close: () => Promise<void>
}

interface Worker {
  getNextJob: (token: string) => Promise<Job | undefined>
  on: (event: string, listener: () => void) => void
  run: () => Promise<void>
  waitUntilReady: () => Promise<unknown>
  close: (force?: boolean) => Promise<void>
}

interface BullMq {
  Queue: new (name: string, options: object, backend: unknown) => Queue
  Worker: new (
    name: string,
    work: ((job: Job) => Promise<void>) | null,
    options: object,
    backend: unknown,
  ) => Worker
  createPostgresBackend: unknown
}

/** With its PostgreSQL backend. Its own workers finish a job and fetch the next in one transaction. */
export async function startBullMq(address: DatabaseAddress): Promise<Peer> {
  const { Queue, Worker, createPostgresBackend } = loadPeer('bullmq') as BullMq
  const connection = { ...pgConfig(address), max: PEER_CONNECTIONS, migrate: true }
  let queues = 0
  const newQueue = () => {
    const name = `bench-${(queues += 1)}`
    return { name, queue: new Queue(name, { connection }, createPostgresBackend) }
  }
  const newWorker = (name: string, work: ((job: Job) => Promise<void>) | null, concurrency = 1) => {
    const options = { connection, concurrency, autorun: false }
    const worker = new Worker(name, work, options, createPostgresBackend)
    worker.on('error', () => {})
    return worker
  }
  return {
    drain: {
      async 'one by one'(callers, count) {
        const { name, queue } = newQueue()
        await fill(queue, count)
        const worker = newWorker(name, null)
        await worker.waitUntilReady()
        const { seconds } = await callersDo(callers, count, async (caller) => {
          const token = `caller-${caller}`
          const job = await worker.getNextJob(token)
          await job?.moveToCompleted('done', token, false)
        })
        await worker.close(true)
        await queue.close()
        return count / seconds
      },
      async 'finish and fetch in one'(callers, count) {
        const { name, queue } = newQueue()
        await fill(queue, count)
        const { begin, done, rate } = countdown(count)
        const worker = newWorker(name, () => Promise.resolve(begin()), callers)
        worker.on('completed', done)
        await worker.waitUntilReady()
        void worker.run()
        const perSecond = await rate
        await worker.close(true)
        await queue.close()
        return perSecond
      },
    },
    async latency(workers, count) {
      const { name, queue } = newQueue()
      const watch = stopwatch()
      const worker = newWorker(name, (job) => Promise.resolve(watch.begun(job.data.n)), workers)
      await worker.waitUntilReady()
      void worker.run()
      const times = await watch.measure(count, (n) => queue.add('job', { n }))
      await worker.close(true)
      await queue.close()
      return times
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

function fill(queue: Queue, count: number): Promise<unknown> {
  return queue.addBulk(Array.from({ length: count }, (_, n) => ({ name: 'job', data: { n } })))
}
