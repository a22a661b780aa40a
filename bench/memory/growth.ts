import { number, quantile } from '../kit/stats.ts'
import type { OwnBench } from './args.ts'
import { askContext, awaitIndex, markedQuestions, naturalQuestions } from './ask.ts'
import { fillObservations } from './fill.ts'
import { startService } from './service.ts'

/** What the size of a namespace costs, at an equal number of matches and on the natural mix. */
export async function growth({ database, report, sizes, corpus }: OwnBench): Promise<void> {
  const measured = []
  for (const [name, observations] of [
    ['small', sizes.small],
    ['large', sizes.large],
  ] as const) {
    report.progress(`growth: ${observations} observations`)
    const namespace = `growth-${name}`
    {
      await using service = await startService(database.address)
      await fillObservations(service, corpus, { namespace, observations, chunks: 0 })
    }
    await database.admin`vacuum (analyze)`
    await using service = await startService(database.address)
    const seconds = await awaitIndex(service, namespace)
    const { longestPauseMs } = await service.usage()
    const asking = { namespace, callers: 1, count: sizes.questions }
    const natural = naturalQuestions(corpus, observations)
    await askContext(service, natural, { ...asking, count: 30, first: 0 })
    const marked = await askContext(service, markedQuestions(), { ...asking, first: 0 })
    const mixed = await askContext(service, natural, { ...asking, first: 1_000 })
    const { rss } = await service.usage()
    measured.push({ observations, seconds, longestPauseMs, rss, marked, mixed })
  }
  report.table({
    title: 'Growth of one namespace, context packs by one caller, ms',
    columns: [
      'observations',
      'equal matches p50',
      'natural mix p50',
      'p95',
      'read in s',
      'pause',
      'MiB',
    ],
    rows: measured.map(({ observations, marked, mixed, seconds, longestPauseMs, rss }) => [
      number(observations),
      number(quantile(marked, 0.5)),
      number(quantile(mixed, 0.5)),
      number(quantile(mixed, 0.95)),
      number(seconds),
      number(longestPauseMs),
      number(rss / 2 ** 20),
    ]),
    notes: ['The pause is the longest of the event loop while the index was read.'],
  })
  const [small, large] = measured
  if (!small || !large) return
  const ratio = (kind: 'marked' | 'mixed') =>
    quantile(large[kind], 0.5) / quantile(small[kind], 0.5)
  report.target({ name: 'growth, equal matches', value: ratio('marked'), unit: 'times', atMost: 2 })
  report.target({ name: 'growth, natural mix', value: ratio('mixed'), unit: 'times', atMost: 4 })
  report.target({
    name: `resident at ${number(large.observations)} observations`,
    value: large.rss / 2 ** 20,
    unit: 'MiB',
    atMost: 1024,
  })
}
