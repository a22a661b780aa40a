import { number, quantile } from '../kit/stats.ts'
import type { OwnBench } from './args.ts'
import { fillChunks, fillObservations, observation } from './fill.ts'
import { startService } from './service.ts'
import type { Answer } from './service.ts'

export const NAMESPACE = 'own'
/** Observations of which each is looked for as soon as it is acknowledged. */
const LOOKED_FOR = 50

/** Stores the namespace that the questions are asked of, and finds what was recorded last at once. */
export async function record({ database, report, sizes, corpus }: OwnBench): Promise<void> {
  await using service = await startService(database.address)
  report.progress(`recording ${sizes.observations} observations and ${sizes.chunks} chunks`)
  const filling = { namespace: NAMESPACE, ...sizes }
  const before = await service.usage()
  const seconds = await fillObservations(service, corpus, filling)
  const after = await service.usage()
  const chunkSeconds = await fillChunks(service, corpus, filling)
  const times: number[] = []
  for (let n = 0; n < Math.min(LOOKED_FOR, sizes.questions); n++) {
    const one = observation(corpus, sizes.observations + n)
    const word = `nowtold${n}`
    const begun = performance.now()
    const { observation_id: id } = await service.post('/api/memory/observations', {
      ...one,
      content: `${one.content} ${word}`,
      scope: { namespace: NAMESPACE },
    })
    const answer = await service.post('/api/brain/search', {
      query: word,
      scope: { namespace: NAMESPACE },
    })
    times.push(performance.now() - begun)
    if (!answer.hits.some((hit: Answer) => hit.id === id))
      throw new Error('What was acknowledged is not found')
  }
  const rate = sizes.observations / seconds
  report.table({
    title: `Recording beside ${number(sizes.foreign)} foreign rows, fsync on, one sender`,
    columns: ['', 'per second', 'CPU of the process, µs each'],
    rows: [
      [
        'observations, batches of 500',
        number(rate),
        number(((after.cpu - before.cpu) / sizes.observations) * 1e6),
      ],
      ['chunks, documents of 20', number(sizes.chunks / chunkSeconds), ''],
    ],
    notes: [
      `An observation was recorded and then found in ${number(quantile(times, 0.5))} ms (p95 ${number(quantile(times, 0.95))}); none was missed.`,
    ],
  })
  report.target({ name: 'observations recorded', value: rate, unit: 'per s', atLeast: 4_000 })
}
