import { number, quantile } from '../kit/stats.ts'
import type { OwnBench } from './args.ts'
import { askContext, awaitIndex, naturalQuestions } from './ask.ts'
import { NAMESPACE } from './record.ts'
import { startService } from './service.ts'

const TOGETHER = 8
const WARM_UP = 50

/** `POST /api/memory/context`, hybrid, by one caller and by eight, with the index in memory. */
export async function context({ database, report, sizes, corpus }: OwnBench): Promise<void> {
  await database.admin`vacuum (analyze)`
  await using service = await startService(database.address)
  report.progress('reading the index')
  const seconds = await awaitIndex(service, NAMESPACE)
  const question = naturalQuestions(corpus, sizes.observations)
  const ask = async (callers: number, count: number, first: number) => {
    const before = await service.usage()
    const asking = { namespace: NAMESPACE, callers, count, first }
    const times = await askContext(service, question, asking)
    const { cpu, rss, longestPauseMs } = await service.usage()
    return { times, cpuMs: ((cpu - before.cpu) / count) * 1000, rss, longestPauseMs }
  }
  await ask(1, WARM_UP, 0)
  report.progress('asking')
  const alone = await ask(1, sizes.questions, WARM_UP)
  const together = await ask(TOGETHER, sizes.questions, WARM_UP + sizes.questions)
  const row = (name: string, { times, cpuMs }: typeof alone) => [
    name,
    number(quantile(times, 0.5)),
    number(quantile(times, 0.95)),
    number(Math.max(...times)),
    number(cpuMs),
  ]
  report.table({
    title: `Context packs, hybrid, of ${number(sizes.observations)} observations and ${number(sizes.chunks)} chunks beside ${number(sizes.foreign)} foreign rows, ms`,
    columns: ['', 'p50', 'p95', 'longest', 'CPU of the process'],
    rows: [row('one caller', alone), row('8 callers', together)],
    notes: [
      `The index was read in ${number(seconds)} s; the process takes ${number(alone.rss / 2 ** 20)} MiB.`,
      'Questions of eight words, four of them from one item.',
    ],
  })
  report.target({
    name: 'context alone, p50',
    value: quantile(alone.times, 0.5),
    unit: 'ms',
    atMost: 15,
  })
  report.target({
    name: 'context alone, p95',
    value: quantile(alone.times, 0.95),
    unit: 'ms',
    atMost: 40,
  })
  report.target({
    name: 'context by 8 callers, p95',
    value: quantile(together.times, 0.95),
    unit: 'ms',
    atMost: 120,
  })
}
