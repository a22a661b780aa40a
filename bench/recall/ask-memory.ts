import { randomUUID } from 'node:crypto'
import type { Doc } from './set.ts'

/** A memory service and how we show ourselves to it. */
export interface Memory {
  url: string
  key: string
}

/** A corpus in a namespace of its own, under ids that tell nothing. */
export interface Stored {
  namespace: string
  /** The corpus's own id of what memory knows by another. */
  idOf: ReadonlyMap<string, string>
}

const BATCH = 500
const SECOND_MS = 1_000

/** Sends messages as observations of their sessions, everything else as documents, as a user would. */
export async function store(memory: Memory, corpus: string, docs: readonly Doc[]): Promise<Stored> {
  const namespace = `bench:${randomUUID()}`
  const keys = docs.map((doc) => [randomUUID(), doc] as const)
  if (docs.some(({ speaker }) => speaker !== undefined)) {
    const observations = keys.map(([key, doc], place) => messageOf(corpus, key, doc, place))
    for (let start = 0; start < observations.length; start += BATCH) {
      const slice = observations.slice(start, start + BATCH)
      await post(memory, '/api/memory/observations:batch', {
        observations: slice,
        scope: { namespace },
      })
    }
  } else {
    for (const [key, doc] of keys) {
      await post(memory, '/api/brain/documents', documentOf(corpus, key, doc, namespace))
    }
  }
  return { namespace, idOf: new Map(keys.map(([key, { id }]) => [key, id])) }
}

function messageOf(corpus: string, key: string, doc: Doc, place: number) {
  const { text, caption, speaker = '', session = '', date = '2024-01-01T00:00' } = doc
  const at = Date.parse(/[zZ]|[+-]\d\d:\d\d$/.test(date) ? date : `${date}:00Z`)
  return {
    source: { system: 'chat', stream: corpus, external_id: key },
    kind: 'message',
    occurred_at: new Date(at + place * SECOND_MS).toISOString(),
    actor: { type: 'principal', id: speaker.replaceAll(/\s+/g, '_') },
    scopes: [`session:${corpus}-${session}`],
    content: text,
    ...(caption !== undefined && { data: { caption } }),
  }
}

function documentOf(corpus: string, key: string, { text, title = '' }: Doc, namespace: string) {
  const isCode = corpus === 'code'
  const name = isCode ? (/def\s+(\w+)/.exec(text)?.[1] ?? '') : title.replaceAll('_', ' ')
  return {
    namespace,
    natural_key: key,
    title: name === '' ? 'untitled' : name,
    type: isCode ? 'code' : 'document',
    chunks: [{ text, order: 0 }],
  }
}

/** The corpus's ids of what memory finds for a question, best first. */
export async function find(
  memory: Memory,
  { namespace, idOf }: Stored,
  question: { text: string; k: number },
): Promise<string[]> {
  const { hits } = await post<{ hits: Hit[] }>(memory, '/api/brain/search', {
    query: question.text,
    k: question.k,
    scope: { namespace },
  })
  return hits.flatMap(({ source, node_key: nodeKey }) => {
    const id = idOf.get(source?.external_id ?? nodeKey ?? '')
    return id === undefined ? [] : [id]
  })
}

interface Hit {
  node_key: string | null
  source: { external_id: string | null } | null
}

async function post<T>({ url, key }: Memory, path: string, body: object): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  if (!response.ok) {
    const answer = (await response.text()).slice(0, 300)
    throw new Error(`Cannot ask ${path}: ${response.status} ${answer}`)
  }
  return (await response.json()) as T
}
