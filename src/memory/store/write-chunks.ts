import type { Sql } from '#db/sql.ts'
import { chunkFields } from '../analysis/fields.ts'
import type { TextWrite } from '../graph/project.ts'
import { ownerOf } from '../scopes.ts'
import { closeChunks, insertChunks, selectOpenChunks } from './chunk.sql.ts'
import type { ChunkRow } from './chunk.sql.ts'
import { slices } from './slices.ts'
import { storedTerms } from './terms.ts'
import type { Namespace } from './write.ts'

export type CutText = TextWrite & { chunks: readonly { heading: string | null; text: string }[] }

/**
 * Stores texts of assertions as chunks. Under a key that has a text the new one replaces it from its
 * moment on, or, told of an earlier moment, ends where the one known begins. One that is private
 * replaces only its owner's.
 */
export async function storeTexts(
  sql: Sql,
  namespace: Namespace,
  texts: readonly CutText[],
): Promise<void> {
  if (texts.length === 0) return
  const last = new Map<string, CutText>()
  for (const text of texts) {
    const place = `${ownerOf(text.scopes)}\n${text.nodeKey}`
    const before = last.get(place)
    if (!before || before.at <= text.at) last.set(place, text)
  }
  const given = [...last.values()].filter(({ keyGiven }) => keyGiven).map(({ nodeKey }) => nodeKey)
  const open = given.length === 0 ? [] : await selectOpenChunks(sql, namespace.id, given)
  const byKey = Map.groupBy(open, ({ nodeKey }) => nodeKey)
  const ends: { chunk: ChunkRow; at: string }[] = []
  const added: Omit<ChunkRow, 'item' | 'termCount'>[] = []
  for (const text of last.values()) {
    const owner = ownerOf(text.scopes)
    const before = (byKey.get(text.nodeKey) ?? []).filter(
      ({ scopes }) => owner === '' || ownerOf(scopes) === owner,
    )
    const later = before.map(({ validFrom }) => validFrom).find((start) => start > text.at)
    if (later === undefined) ends.push(...before.map((chunk) => ({ chunk, at: text.at })))
    added.push(...rowsOf(text, later ?? null))
  }
  await endChunks(sql, namespace, ends)
  await addChunks(sql, namespace, added)
}

export async function endChunks(
  sql: Sql,
  namespace: Namespace,
  ends: readonly { chunk: ChunkRow; at: string }[],
): Promise<void> {
  if (ends.length === 0) return
  await closeChunks(
    sql,
    namespace,
    ends.map(({ chunk, at }) => ({ item: chunk.item, at })),
  )
  for (const { chunk } of ends) namespace.changed('chunk', chunk.item, -1, -chunk.termCount)
}

export async function addChunks(
  sql: Sql,
  namespace: Namespace,
  chunks: readonly Omit<ChunkRow, 'item' | 'termCount'>[],
): Promise<void> {
  for (const slice of slices(chunks)) {
    const rows = slice.map((chunk) => ({
      ...chunk,
      item: namespace.nextItem(),
      ...storedTerms(namespace, chunkFields(chunk)),
    }))
    await insertChunks(sql, namespace, rows)
    for (const { item, termCount, validTo } of rows) {
      namespace.changed('chunk', item, validTo === null ? 1 : 0, validTo === null ? termCount : 0)
    }
  }
}

function rowsOf(text: CutText, validTo: string | null): Omit<ChunkRow, 'item' | 'termCount'>[] {
  const { nodeKey, docType, title, sourcePath, observationId, meta, scopes, at } = text
  return text.chunks.map((chunk, chunkOrder) => ({
    nodeKey,
    chunkOrder,
    docType,
    title,
    heading: chunk.heading,
    text: chunk.text,
    sourcePath,
    observationId,
    meta,
    scopes,
    validFrom: at,
    validTo,
  }))
}
