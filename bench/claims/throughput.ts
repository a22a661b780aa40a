import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import type { Report } from '../kit/report.ts'
import { interleave } from '../kit/rounds.ts'
import type { BenchServer } from '../kit/server.ts'
import { median, medianRatio, number, spread, summary } from '../kit/stats.ts'
import { CONTENDERS } from './contender.ts'
import { startContender } from './contenders.ts'
import type { Contender } from './contenders.ts'
import { FENCED, nameOf } from './guarantees.ts'

const CALLERS = [1, 8, 32]
/** Jobs of the first round, and seconds that each later one is to take. */
const FIRST_JOBS = 96
const ROUND_SECONDS = 1.2
const MAX_JOBS = 4000

export interface Options extends BenchArgs {
  /** Whether the peers are there to compare with. */
  peers: boolean
}

type Name = keyof typeof CONTENDERS

export async function startContenders(
  server: BenchServer,
  { peers }: Options,
): Promise<Map<Name, Contender>> {
  const names = Object.keys(CONTENDERS) as Name[]
  const started = new Map<Name, Contender>()
  for (const name of names) {
    if (name !== 'strata' && !peers) continue
    const database = `contender_${name.replaceAll(/\W/g, '_')}`
    const address =
      name === 'strata'
        ? (await server.controlPlane(database)).address
        : await server.empty(database)
    started.set(name, await startContender(name, address))
  }
  return started
}

/** Claim and finish, one job at a time, by several callers at once: ours and every peer in turn. */
export async function throughput(
  server: BenchServer,
  report: Report,
  contenders: Map<Name, Contender>,
  options: Options,
): Promise<void> {
  const byCallers = new Map<number, Measured>()
  for (const callers of CALLERS) {
    report.progress(`claim and finish at ${callers} callers`)
    byCallers.set(callers, await measure(server, contenders, callers, options))
  }
  const modes = [...(byCallers.get(1)?.rates.keys() ?? [])]
  report.table({
    title: 'Claim and finish per second, one by one: median (min..max) of the rounds',
    columns: ['', ...CALLERS.map((callers) => `${callers} callers`)],
    rows: modes.map((mode) => [
      mode,
      ...CALLERS.map((callers) => spread(summary(byCallers.get(callers)?.rates.get(mode) ?? []))),
    ]),
    notes: [
      'Two commits a job; "with a run" is claim, start of a run, and its success: three, seven events.',
      'DBOS: start and end of a workflow by its caller; its queue hands out in batches, see below.',
    ],
  })
  report.table({
    title: 'CPU of one job in microseconds, client + server; on a busy machine steadier than rates',
    columns: ['', ...CALLERS.map((callers) => `${callers} callers`)],
    rows: modes.map((mode) => [
      mode,
      ...CALLERS.map((callers) => {
        const cpu = byCallers.get(callers)?.cpu.get(mode) ?? []
        return `${number(median(cpu.map(([own]) => own)))} + ${number(median(cpu.map(([, at]) => at)))}`
      }),
    ]),
  })
  report.data(
    'throughput',
    CALLERS.map((callers) => [callers, Object.fromEntries(byCallers.get(callers)?.rates ?? [])]),
  )
  for (const callers of CALLERS)
    targets(report, callers, byCallers.get(callers)?.rates ?? new Map())
}

interface Measured {
  rates: Map<string, number[]>
  /** Microseconds of client and server, of each round. */
  cpu: Map<string, [number, number][]>
}

const OURS = 'Strata'
const WITH_RUN = 'Strata, with a run'

async function measure(
  server: BenchServer,
  contenders: Map<Name, Contender>,
  callers: number,
  options: Options,
): Promise<Measured> {
  const cpu: Measured['cpu'] = new Map()
  const countOf = new Map<string, number>()
  const caseOf = (name: string, contender: Contender, mode: string) => ({
    name,
    async run(round: number) {
      const count = Math.ceil(countOf.get(name) ?? FIRST_JOBS)
      const before = server.cpu().server
      const { values, cpuSeconds } = await contender.ask({ kind: 'drain', mode, callers, count })
      const spent: [number, number] = [
        (cpuSeconds / count) * 1e6,
        ((server.cpu().server - before) / count) * 1e6,
      ]
      if (round >= 0) cpu.set(name, [...(cpu.get(name) ?? []), spent])
      const [rate = Number.NaN] = values
      countOf.set(name, Math.min(MAX_JOBS, Math.max(FIRST_JOBS, rate * ROUND_SECONDS)))
      return rate
    },
  })
  const cases = [...contenders].flatMap(([name, contender]) =>
    name === 'strata'
      ? [caseOf(OURS, contender, 'one by one'), caseOf(WITH_RUN, contender, 'with a run')]
      : [caseOf(nameOf(name), contender, 'one by one')],
  )
  const rates = await interleave(cases, effortOf(options, 3), () => server.settle())
  return { rates, cpu }
}

/** Against the fastest of all peers, and of those that refuse a late finish as we do. */
function targets(report: Report, callers: number, rates: Map<string, number[]>): void {
  const ours = rates.get(OURS) ?? []
  const peers = [...rates].filter(([name]) => name !== OURS && name !== WITH_RUN)
  for (const [kind, among] of [
    ['peer', peers],
    ['fenced peer', peers.filter(([name]) => FENCED.some((peer) => name === nameOf(peer)))],
  ] as const) {
    const [found] = among.toSorted(([, a], [, b]) => median(b) - median(a))
    if (!found) continue
    report.target({
      name: `Strata to the fastest ${kind} (${found[0]}) at ${callers} callers`,
      value: medianRatio(ours, found[1]),
      unit: 'times',
      atLeast: 1,
    })
  }
}

/** What peers do faster when they may take or finish several jobs at once, at 8 callers. */
export async function batches(
  server: BenchServer,
  report: Report,
  contenders: Map<Name, Contender>,
  options: Options,
): Promise<void> {
  const modes = [...contenders].flatMap(([name, contender]) =>
    (BATCHED[name] ?? []).map((mode) => ({ name, contender, mode })),
  )
  if (modes.length === 0) return
  report.progress('batches')
  const cases = modes.map(({ name, contender, mode }) => ({
    name: `${nameOf(name)}, ${mode}`,
    async run() {
      const { values } = await contender.ask({ kind: 'drain', mode, callers: 8, count: 4000 })
      return values[0] ?? Number.NaN
    },
  }))
  const rates = await interleave(cases, effortOf(options, 3), () => server.settle())
  report.table({
    title: 'Where peers win: jobs per second at 8 callers when one statement may do several',
    columns: ['', '8 callers'],
    rows: [...rates].map(([name, values]) => [name, spread(summary(values))]),
    notes: ['Strata has no such command: each claim is of one task, under a token of its own.'],
  })
}

const BATCHED: Partial<Record<Name, string[]>> = {
  'pg-boss': ['batches of 100'],
  'graphile-worker': ['local queue of 100'],
  bullmq: ['finish and fetch in one'],
}
