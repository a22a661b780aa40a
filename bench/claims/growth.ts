import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import { newFleet, newTasks } from '../kit/fleet.ts'
import type { Agent } from '../kit/fleet.ts'
import { fillFinished } from '../kit/history.ts'
import type { Report } from '../kit/report.ts'
import { callersDo, interleave } from '../kit/rounds.ts'
import type { BenchServer } from '../kit/server.ts'
import { medianRatio, number, quantile, spread, summary } from '../kit/stats.ts'
import { claim, finish } from './work.ts'

const CALLERS = 8

/** How long a claim takes when few and when many tasks have been finished before. */
export async function growth(server: BenchServer, report: Report, args: BenchArgs): Promise<void> {
  const sizes = [1000, args.size]
  const cases = []
  for (const size of sizes) {
    const { open, admin } = await server.controlPlane(`finished_${size}`)
    const db = open(CALLERS)
    const fleet = await newFleet(db, CALLERS)
    await fillFinished(admin, fleet.agents[0] as Agent, size, (made) =>
      report.progress(`${number(made)} of ${number(size)} finished tasks`),
    )
    cases.push({
      name: `${number(size)} finished`,
      async run() {
        const ids = await newTasks(db, fleet.admin.ctx, args.quick ? 24 : 400)
        const times: number[] = []
        await callersDo(CALLERS, ids.length, async (caller, index) => {
          const [agent, id] = [fleet.agents[caller], ids[index]]
          if (!agent || id === undefined) return
          const start = performance.now()
          const held = await claim(db, agent, id)
          times.push(performance.now() - start)
          await finish(db, agent, held)
        })
        return quantile(times, 0.95)
      },
    })
  }
  const samples = await interleave(cases, effortOf(args, 3), () => server.settle())
  report.table({
    title: `A claim at ${CALLERS} callers: p95 in milliseconds, median (min..max) of the rounds`,
    columns: ['', 'p95'],
    rows: [...samples].map(([name, values]) => [name, spread(summary(values))]),
  })
  const [few = [], many = []] = [...samples.values()]
  report.target({
    name: `p95 of a claim, ${cases[1]?.name} to ${cases[0]?.name}`,
    value: medianRatio(many, few),
    unit: 'times',
    atMost: 2,
  })
}
