import type { Sql } from '#db/sql.ts'
import type { Hit } from './fuse.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import type { Reference } from './load-items.ts'
import type { Reader } from './reader.ts'
import { selectLifecycle, selectStated } from './recent.sql.ts'
import type { RecentRow } from './recent.sql.ts'

const MAX_STATED = 16
const MAX_LIFECYCLE = 8
/** What is new somewhere else counts less than what is new of the tasks in question. */
const ELSEWHERE = 0.5
const HALVED_AFTER = 8

/**
 * The newest observations, best first: what was stated of the tasks in question, the last that happened
 * to them, and what was stated last anywhere.
 */
export async function recentIn(
  sql: Sql,
  ask: { namespaces: readonly NamespaceRow[]; reader: Reader; scopes: readonly string[] },
): Promise<(Hit & Reference)[]> {
  const { namespaces, reader } = ask
  const tasks = ask.scopes.filter((scope) => scope.startsWith('task:'))
  const anywhere = { reader, tasks: [], limit: MAX_STATED }
  const ofTasks = { reader, tasks, limit: MAX_STATED }
  const lifecycle = { reader, tasks, limit: MAX_LIFECYCLE }
  const found = await Promise.all([
    newestOf(namespaces, (id) => selectLifecycle(sql, id, lifecycle), 1),
    newestOf(namespaces, (id) => selectStated(sql, id, anywhere), tasks.length > 0 ? ELSEWHERE : 1),
    tasks.length > 0 ? newestOf(namespaces, (id) => selectStated(sql, id, ofTasks), 1) : [],
  ])
  const best = new Map<string, Hit & Reference>()
  for (const hit of found.flat()) {
    const known = best.get(hit.key)
    if (known === undefined || known.strength < hit.strength) best.set(hit.key, hit)
  }
  return [...best.values()].toSorted((a, b) => b.strength - a.strength)
}

async function newestOf(
  namespaces: readonly NamespaceRow[],
  read: (namespaceId: string) => Promise<RecentRow[]>,
  weight: number,
): Promise<(Hit & Reference)[]> {
  const rows = await Promise.all(
    namespaces.map(async (namespace) =>
      (await read(namespace.id)).map((row) => ({ ...row, namespace })),
    ),
  )
  return rows
    .flat()
    .toSorted((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime())
    .map(({ namespace, item }, place) => ({
      key: `${namespace.id}:${item}`,
      namespace,
      item,
      kind: 'observation',
      strength: weight / (1 + place / HALVED_AFTER),
    }))
}
