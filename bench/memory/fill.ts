import type { Corpus } from './corpus.ts'
import type { MemoryService } from './service.ts'

export interface Filling {
  namespace: string
  observations: number
  chunks: number
}

const BATCH = 500
const SESSION = 20
const MESSAGE_WORDS = 24
const CHUNK_WORDS = 60
const CHUNKS_OF_A_DOCUMENT = 20
/** Every so many items hold one of the marks, however large the namespace is. */
export const MARKED_ITEMS = 200
export const MARKS = ['zorbaxim', 'quelvotar', 'wumplexid', 'yentrofal']

/**
 * Messages in sessions of twenty through `observations:batch`, one batch after the other.
 * @returns seconds
 */
export async function fillObservations(
  service: MemoryService,
  corpus: Corpus,
  { namespace, observations }: Filling,
): Promise<number> {
  const every = Math.max(1, Math.floor(observations / MARKED_ITEMS))
  const begun = performance.now()
  for (let start = 0; start < observations; start += BATCH) {
    const size = Math.min(BATCH, observations - start)
    const batch = Array.from({ length: size }, (_, i) =>
      observation(corpus, start + i, (start + i) % every === 0),
    )
    const { failed } = await service.post('/api/memory/observations:batch', {
      observations: batch,
      scope: { namespace },
    })
    if (failed > 0) throw new Error(`${failed} observations were refused`)
  }
  return (performance.now() - begun) / 1000
}

export function observation(corpus: Corpus, n: number, isMarked = false) {
  const mark = isMarked ? ` ${MARKS.join(' ')}` : ''
  return {
    source: { system: 'bench', stream: 'chat', external_id: `m-${n}` },
    kind: 'message',
    occurred_at: new Date(Date.UTC(2026, 0, 1) + n * 15_000).toISOString(),
    actor: { type: 'person', id: `p${n % 7}` },
    scopes: [`session:${Math.floor(n / SESSION)}`],
    content: corpus.text(n, MESSAGE_WORDS) + mark,
  }
}

/** Documents of twenty chunks each. @returns seconds */
export async function fillChunks(
  service: MemoryService,
  corpus: Corpus,
  { namespace, chunks }: Filling,
): Promise<number> {
  const begun = performance.now()
  for (let start = 0; start < chunks; start += CHUNKS_OF_A_DOCUMENT) {
    const size = Math.min(CHUNKS_OF_A_DOCUMENT, chunks - start)
    await service.post('/api/brain/documents', {
      natural_key: `doc:${start}`,
      title: `Document ${corpus.text(-1 - start, 3)}`,
      chunks: Array.from({ length: size }, (_, order) => ({
        order,
        text: corpus.text(10_000_000 + start + order, CHUNK_WORDS),
      })),
      namespace,
    })
  }
  return (performance.now() - begun) / 1000
}
