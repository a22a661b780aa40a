import type { Sql } from '#db/sql.ts'
import { ModelError } from '#model/embedder.ts'
import type { Embedder } from '#model/embedder.ts'
import type { NamespaceIndex } from '../index/namespace-index.ts'
import { authorsNamed, withoutAuthors } from '../recall/query.ts'
import type { Query } from '../recall/query.ts'
import { findAlike } from './find-alike.ts'
import type { Alike, AlikeSearch } from './find-alike.ts'
import { createVectorIndexes } from './vector-index.ts'

/** Search by meaning, where a model of embeddings is configured. */
export interface Meaning {
  readonly model: string
  /**
   * What is nearest in meaning in a namespace, best first. The authors that a question names are left out of
   * what the model is given: whose words are sought is not what they mean. Undefined when the model does not answer; it
   * is left alone for a while then.
   */
  find: (
    sql: Sql,
    index: NamespaceIndex,
    search: Omit<AlikeSearch, 'vector' | 'author'> & { query: Query },
  ) => Promise<Alike[] | undefined>
}

/** A question waits no longer than this for its vector. */
const QUESTION_MS = 2_000
const REST_MS = 15_000
const MAX_QUESTION_CHARS = 4_000

export function createMeaning(embedder: Embedder, budgetBytes: number): Meaning {
  const indexes = createVectorIndexes(embedder.model, budgetBytes)
  let restsUntil = 0
  const vectorOf = async (text: string): Promise<Float32Array | undefined> => {
    if (text.trim() === '') return new Float32Array()
    if (performance.now() < restsUntil) return undefined
    try {
      const [vector] = await embedder.embed([text], AbortSignal.timeout(QUESTION_MS))
      return vector
    } catch (error) {
      if (!(error instanceof ModelError) && !isTimeout(error)) throw error
      restsUntil = performance.now() + REST_MS
      return undefined
    }
  }
  return {
    model: embedder.model,
    find: async (sql, index, { query, ...search }) => {
      const text = withoutAuthors(query, index.authors.names).slice(0, MAX_QUESTION_CHARS)
      const [vector, vectors] = await Promise.all([
        vectorOf(text),
        indexes.upToDate(sql, search.namespace.id),
      ])
      const [author, ...others] = authorsNamed(query, index.authors.names).authors
      const only = others.length === 0 ? author : undefined
      return vector && findAlike(index, vectors, { ...search, vector, author: only })
    },
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
