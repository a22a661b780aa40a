import type { Database } from '#db/sql.ts'
import { memoryTables } from './memory.ts'

/** A file as an entity of a snapshot. */
export const file = (name: string, attributes: object = {}) => ({
  kind: 'file',
  key: `file:${name}`,
  title: name,
  attributes,
})
export const imports = (from: string, to: string, attributes: object = {}) => ({
  relation: 'imports',
  from: { kind: 'file', key: `file:${from}` },
  to: { kind: 'file', key: `file:${to}` },
  attributes,
})

/** Short ways to reconcile a source into a new namespace and to look at what came of it. */
export function memorySources(db: Database) {
  const tables = memoryTables(db)
  const { namespace, post } = tables
  return {
    ...tables,
    reconcile: (snapshotId: string, day: number, more: object = {}) =>
      post('/api/memory/reconcile', {
        namespace,
        source: 'git',
        scope: 'acme/app',
        snapshotId,
        observedAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
        ...more,
      }),
    ledger: async (table: 'snapshot_entities' | 'snapshot_relations') =>
      await db`
        select t.*
        from ${db(table)} as t
        join namespaces as n on n.id = t.namespace_id
        where n.namespace = ${namespace}
        order by t.opened_by`,
    entities: async (more: object = {}) => {
      const { body } = await post('/api/memory/entities:query', {
        namespaces: [namespace],
        kinds: ['file'],
        ...more,
      })
      return body.items.map((one: { title: string; attributes: object }) => [
        one.title,
        one.attributes,
      ])
    },
  }
}
