import type { Sql } from '#db/sql.ts'
import { termHash, termsOf } from '../analysis/terms-of.ts'
import type { TextField } from '../analysis/terms-of.ts'
import type { Namespace } from '../store/write.ts'
import { deleteUnusedWords, insertForgottenWords } from './derived.sql.ts'

/** Enough for one statement; a text of more different words is forgotten in several. */
const SLICE = 500

/**
 * Takes out of the vocabulary what only the removed texts held, here and in every index in a process.
 * Comes after the texts themselves are gone.
 */
export async function forgetWords(
  sql: Sql,
  namespace: Namespace,
  fields: readonly TextField[],
): Promise<number> {
  const { words } = termsOf(namespace.id, fields)
  const hashed = words.map((word) => ({ word, hash: termHash(namespace.id, word).toString() }))
  const gone: string[] = []
  for (let start = 0; start < hashed.length; start += SLICE) {
    const slice = hashed.slice(start, start + SLICE)
    gone.push(...(await deleteUnusedWords(sql, namespace.id, slice)))
  }
  if (gone.length > 0) await insertForgottenWords(sql, namespace, gone)
  return gone.length
}
