// A process of its own for each of the things compared, so that none pays for another's garbage. Started by
// bench/claims.ts with the name and the address of its database; does what it is asked and answers.
import type { DatabaseAddress } from '#db/sql.ts'
import { startBullMq } from '../peers/bullmq.ts'
import { startDbos } from '../peers/dbos.ts'
import { startGraphileWorker } from '../peers/graphile-worker.ts'
import { startPgBoss } from '../peers/pg-boss.ts'
import type { Peer } from '../peers/peer.ts'
import { startStrata } from './strata.ts'

export const CONTENDERS = {
  strata: startStrata,
  'pg-boss': startPgBoss,
  'graphile-worker': startGraphileWorker,
  bullmq: startBullMq,
  '@dbos-inc/dbos-sdk': startDbos,
} satisfies Record<string, (address: DatabaseAddress) => Promise<Peer>>

export type Wish =
  | { kind: 'drain'; mode: string; callers: number; count: number }
  | { kind: 'latency'; workers: number; count: number }

export interface Outcome {
  /** Jobs per second, or milliseconds from making a job to its begin. */
  values: number[]
  /** CPU of this process for it. */
  cpuSeconds: number
}

export type Answer = { outcome: Outcome } | { error: string }

if (process.send) {
  const [name, address] = process.argv.slice(2) as [keyof typeof CONTENDERS, string]
  const peer = await CONTENDERS[name](JSON.parse(address) as DatabaseAddress)
  process.on('message', (wish: Wish) => {
    fulfil(peer, wish).then(
      (outcome) => answer({ outcome }),
      (error: unknown) => answer({ error: String(error) }),
    )
  })
  // Peers keep connections and timers; the parent's end is ours.
  process.on('disconnect', () => process.exit(0))
  process.send('ready')
}

async function fulfil(peer: Peer, wish: Wish): Promise<Outcome> {
  const before = process.cpuUsage()
  const values = await (wish.kind === 'latency'
    ? peer.latency(wish.workers, wish.count)
    : drain(peer, wish))
  const { user, system } = process.cpuUsage(before)
  return { values, cpuSeconds: (user + system) / 1e6 }
}

async function drain(peer: Peer, wish: Wish & { kind: 'drain' }): Promise<number[]> {
  const work = peer.drain[wish.mode]
  if (!work) throw new Error(`no mode ${wish.mode}`)
  return [await work(wish.callers, wish.count)]
}

function answer(value: Answer): void {
  process.send?.(value)
}
