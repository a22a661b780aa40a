import type { Sql } from '#db/sql.ts'
import { selectVisibleIds } from '../recall/items.sql.ts'
import type { Ranked } from '../recall/item.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { Reader } from '../recall/reader.ts'
import { HIDDEN } from './collapse.ts'

/** The ranking with the names of successors that the reader may not see taken out. */
export async function hideSuccessors(
  sql: Sql,
  reader: Reader,
  ranking: readonly Ranked[],
  namespaces: readonly NamespaceRow[],
): Promise<readonly Ranked[]> {
  const replaced = ranking.filter(({ item }) => item.supersededBy !== null)
  if (reader.audience.all || replaced.length === 0) return ranking
  const ids = replaced.flatMap(({ item }) => item.supersededBy ?? [])
  const visible = new Set(
    await Promise.all(
      namespaces.map(({ id }) => selectVisibleIds(sql, { namespaceId: id, reader, ids })),
    ).then((lists) => lists.flat()),
  )
  return ranking.map((ranked) => {
    const { supersededBy } = ranked.item
    if (supersededBy === null || visible.has(supersededBy)) return ranked
    return { ...ranked, item: { ...ranked.item, supersededBy: HIDDEN } }
  })
}
