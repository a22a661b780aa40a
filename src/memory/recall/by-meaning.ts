import type { Sql } from '#db/sql.ts'
import { adjustmentOf } from './adjust.ts'
import { CHANNELS } from './fuse.ts'
import type { Channel } from './fuse.ts'
import type { Find, GatherRequest } from './gather.ts'
import type { Item } from './item.ts'
import type { Query } from './query.ts'

/** Without vectors, words stand in for them. */
export function withWords(
  channels: ReadonlySet<Channel>,
  alike: readonly Find[] | undefined,
): ReadonlySet<Channel> {
  if (!channels.has('vector')) return channels
  if (alike !== undefined) return channels
  return new Set(
    CHANNELS.filter((one) => one === 'lexical' || (one !== 'vector' && channels.has(one))),
  )
}

export function warningsOf(
  { channels, meaning }: GatherRequest,
  alike: readonly Find[] | undefined,
) {
  const isMissed = channels.has('vector') && alike === undefined
  if (!isMissed) return []
  if (meaning !== undefined) return ['semantic search is unavailable: its model does not answer']
  return channels.has('lexical') ? [] : ['semantic search is not trained yet']
}

/**
 * What is near in meaning; undefined where no model is configured, or it does not answer. A namespace that is
 * searched in the database has none: its filter would come after the choice.
 */
export async function alikeIn(sql: Sql, request: GatherRequest): Promise<Find[] | undefined> {
  const { namespaces, channels, reader, query, kinds, meaning, texts } = request
  if (!channels.has('vector') || meaning === undefined) return undefined
  // What texts say of themselves is not in the index.
  if (texts !== undefined) return []
  const searches = await Promise.all(
    namespaces.map(async (namespace) => {
      const index = await request.indexes.upToDate(sql, namespace)
      if (index === undefined) return []
      const alike = await meaning.find(sql, index, { namespace, reader, query, kinds })
      return alike?.map((one) => ({
        ...one,
        namespace,
        key: `${namespace.id}:${one.item}`,
      }))
    }),
  )
  const found = searches.filter((search) => search !== undefined)
  if (found.length < searches.length) return undefined
  return found.flat().toSorted((a, b) => b.strength - a.strength)
}

/** The strength of what is near in meaning once the texts are read. */
export function adjustedAlike(
  query: Query,
  alike: readonly Find[],
  items: ReadonlyMap<string, Item>,
) {
  return alike
    .map((hit) => {
      const { factor } = adjustmentOf(query, items.get(hit.key)?.text ?? '')
      return { ...hit, strength: hit.strength * factor }
    })
    .toSorted((a, b) => b.strength - a.strength)
}
