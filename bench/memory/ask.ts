import { MARKS } from './fill.ts'
import type { Corpus } from './corpus.ts'
import type { MemoryService } from './service.ts'

export interface Asking {
  namespace: string
  callers: number
  count: number
  /** Number of the first question: no two measurements ask the same. */
  first: number
}

const QUESTION_WORDS = 8

/** Milliseconds that each of `count` questions took, asked by some callers at once. */
export async function askContext(
  service: MemoryService,
  question: (n: number) => string,
  { namespace, callers, count, first }: Asking,
): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const caller = async () => {
    while (next < count) {
      const n = first + next++
      const begun = performance.now()
      const { stats } = await service.post('/api/memory/context', {
        query: question(n),
        strategy: 'hybrid',
        scope: { namespace },
      })
      times.push(performance.now() - begun)
      if (stats.engine !== 'index') throw new Error(`A question was answered by ${stats.engine}`)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return times
}

/** Questions about items there are, in their words and others. */
export function naturalQuestions(corpus: Corpus, items: number) {
  return (n: number) => corpus.question((n * 7919) % items, QUESTION_WORDS)
}

/** Questions that find the same number of items however large the namespace is. */
export function markedQuestions() {
  return (n: number) => MARKS.filter((_, i) => i !== n % MARKS.length).join(' ')
}

/** Waits until the index of the namespace is in memory. @returns seconds */
export async function awaitIndex(service: MemoryService, namespace: string): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const { engine } = await service.post('/api/brain/search', {
      query: 'index',
      scope: { namespace },
    })
    if (engine === 'index') return (performance.now() - begun) / 1000
    await new Promise((done) => setTimeout(done, 100))
  }
}
