import { join } from 'node:path'
import type { Sql } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'
import { ANALYSIS } from '../analysis/terms-of.ts'
import { selectInstanceId } from '../store/stream.sql.ts'
import { selectWords } from '../store/vocabulary.sql.ts'
import { selectWrittenAt } from './index.sql.ts'
import { createNamespaceIndex } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import { inSlices, learning } from './refresh.ts'
import { keptIndexOf, snapshotOf } from './snapshot.ts'
import { readSnapshot, writeSnapshot } from './snapshot-file.ts'

/** Snapshots of indexes in a folder: only a cache, made again whenever something is in doubt. */
export interface IndexCache {
  /** The index as it was kept, of a version that the namespace had; undefined when there is none to trust. */
  read: (sql: Sql, namespaceId: string) => Promise<NamespaceIndex | undefined>
  /**
   * Keeps the index, if that is worth it by now. Resolves when a copy is made and the index may change again;
   * the copy is written behind the caller's back.
   */
  keep: (sql: Sql, index: NamespaceIndex) => Promise<void>
  /** Resolves when nothing is being written. */
  idle: () => Promise<void>
}

/** Smaller ones are read from the database as fast. */
const MIN_SLOTS = 2_000
/** Kept anew when so large a share of the slots is new since. */
const NEW_SHARE = 0.1

export function createIndexCache(
  folder: string,
  { log, minSlots = MIN_SLOTS }: { log: Log; minSlots?: number },
): IndexCache {
  const keptSlots = new WeakMap<NamespaceIndex, number>()
  const writing = new Map<string, Promise<void>>()
  let instance: string | undefined
  const ownerOf = async (sql: Sql, namespaceId: string) => {
    instance ??= await selectInstanceId(sql)
    return { instance, namespaceId, analysis: ANALYSIS }
  }
  const pathOf = (owner: { instance: string; namespaceId: string }) =>
    join(folder, `${owner.instance}-${owner.namespaceId}.index`)

  return {
    read: async (sql, namespaceId) => {
      const owner = await ownerOf(sql, namespaceId)
      try {
        const snapshot = await readSnapshot(pathOf(owner), owner)
        if (snapshot === undefined) return undefined
        const { version, writtenAt } = snapshot
        if (writtenAt === '' || (await selectWrittenAt(sql, namespaceId, version)) !== writtenAt)
          return undefined
        const index = createNamespaceIndex(namespaceId)
        await inSlices(index.restore(await keptIndexOf(snapshot)))
        await inSlices(learning(index, await selectWords(sql, namespaceId, 0)))
        keptSlots.set(index, index.slots)
        return index
      } catch (error) {
        log.error('Cannot use the snapshot of a search index', error, { namespaceId })
        return undefined
      }
    },
    keep: async (sql, index) => {
      const { namespaceId, slots } = index
      const before = keptSlots.get(index) ?? 0
      const isWorth = slots >= minSlots && slots - before >= NEW_SHARE * slots
      if (!isWorth || writing.has(namespaceId)) return
      keptSlots.set(index, slots)
      const owner = await ownerOf(sql, namespaceId)
      await inSlices(index.postings.compact())
      const snapshot = await snapshotOf(index)
      const written = writeSnapshot(pathOf(owner), owner, snapshot)
        .catch((error: unknown) =>
          log.error('Cannot keep a snapshot of a search index', error, { namespaceId }),
        )
        .finally(() => writing.delete(namespaceId))
      writing.set(namespaceId, written)
    },
    idle: async () => void (await Promise.all(writing.values())),
  }
}
