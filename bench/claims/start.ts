import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import type { Report } from '../kit/report.ts'
import { interleave } from '../kit/rounds.ts'
import { median, number, quantile, spread, summary } from '../kit/stats.ts'
import type { Contender } from './contenders.ts'
import { nameOf } from './guarantees.ts'

const WORKERS = 4

/** From before the call that makes a job to the begin of its work, with workers waiting. */
export async function start(
  report: Report,
  contenders: ReadonlyMap<string, Contender>,
  args: BenchArgs,
): Promise<void> {
  report.progress('from making a job to its start')
  const count = args.quick ? 5 : 20
  const all = new Map<string, number[]>()
  const cases = [...contenders].map(([peer, contender]) => {
    const name = peer === 'strata' ? 'Strata' : nameOf(peer)
    return {
      name,
      async run(round: number) {
        const { values } = await contender.ask({ kind: 'latency', workers: WORKERS, count })
        if (round >= 0) all.set(name, [...(all.get(name) ?? []), ...values])
        return median(values)
      },
    }
  })
  const medians = await interleave(cases, effortOf(args, 3))
  report.table({
    title: `Milliseconds from making a job to its start, ${WORKERS} workers waiting`,
    columns: ['', 'p50 of the rounds', 'p95 of all'],
    rows: cases.map(({ name }) => [
      name,
      spread(summary(medians.get(name) ?? [])),
      number(quantile(all.get(name) ?? [], 0.95)),
    ]),
    notes: [
      'Strata: created, journal readers woken, claimed and run started, five commits in between.',
      'pg-boss and BullMQ are woken by NOTIFY, too; DBOS polls, here ten times a second.',
    ],
  })
  report.target({
    name: 'Strata from making a task to the start of its run',
    value: median(medians.get('Strata') ?? []),
    unit: 'ms',
    atMost: 15,
  })
}
