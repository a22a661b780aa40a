import { find, store } from './ask-memory.ts'
import type { Memory, Stored } from './ask-memory.ts'
import { metricsOf } from './metrics.ts'
import type { Metrics } from './metrics.ts'
import type { EvalSet, Question } from './set.ts'

/** One question's ranking judged, and where the set has sessions, the ranking of these too. */
export interface Judged {
  category: string
  items: Metrics
  sessions: Metrics | undefined
}

const HITS = 20
const AT_ONCE = 4

/** Stores the corpora of the sets, each once however many sets ask about it. */
export async function storeAll(
  memory: Memory,
  sets: readonly EvalSet[],
): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>()
  for (const { corpora } of sets) {
    for (const [name, { docs }] of Object.entries(corpora)) {
      if (!stored.has(name)) stored.set(name, await store(memory, name, docs))
    }
  }
  return stored
}

/** Asks every question of a set and judges what comes. */
export async function measure(
  memory: Memory,
  set: EvalSet,
  stored: ReadonlyMap<string, Stored>,
): Promise<Judged[]> {
  const sessionOf = new Map(
    Object.entries(set.corpora).map(([name, { docs }]) => [
      name,
      new Map(docs.map(({ id, session = '' }) => [id, session])),
    ]),
  )
  const judge = async ({ corpus, text, category, gold }: Question): Promise<Judged> => {
    const place = stored.get(corpus)
    if (place === undefined)
      throw new Error(`Cannot ask about corpus "${corpus}": it is not stored`)
    const ranking = await find(memory, place, { text, k: HITS })
    const sessions = (ids: readonly string[]) =>
      ids.map((id) => sessionOf.get(corpus)?.get(id) ?? '')
    return {
      category,
      items: metricsOf(ranking, gold),
      sessions: set.hasSessions ? metricsOf(sessions(ranking), sessions(gold)) : undefined,
    }
  }
  const judged: Judged[] = []
  const waiting = set.questions.values()
  const worker = async () => {
    for (const question of waiting) judged.push(await judge(question))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return judged
}
