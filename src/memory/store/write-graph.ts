import type { Sql } from '#db/sql.ts'
import { factFields, nodeFields } from '../analysis/fields.ts'
import type { FactVersion, Graph, NodeVersion, Tracked } from '../graph/graph.ts'
import { factIdOf, startOf } from '../graph/assert-fact.ts'
import type { FactWrite } from '../graph/assert-fact.ts'
import { emptyGraph } from '../graph/graph.ts'
import { seenByAllOf } from '../scopes.ts'
import { audienceFor } from '../visibility.ts'
import { insertEdges, selectFacts, selectSuccessors, updateFacts } from './edge.sql.ts'
import { insertNodes, selectVersions, updateNodes } from './node.sql.ts'
import type { NodeFate } from './node.sql.ts'
import { slices } from './slices.ts'
import { storedTerms } from './terms.ts'
import type { Namespace } from './write.ts'

/** What has to be known before assertions can be used. */
export interface GraphNeeds {
  keys: ReadonlySet<string>
  facts: readonly FactWrite[]
  /** The earliest moment that anything is said about. */
  since: string
}

/** Reads the part of the graph that a write touches, in three queries. */
export async function readGraph(sql: Sql, namespace: Namespace, needs: GraphNeeds): Promise<Graph> {
  const graph = emptyGraph(namespace)
  const { id } = namespace
  if (needs.keys.size > 0) {
    for (const row of await selectVersions(sql, id, [...needs.keys], needs.since)) {
      const versions = graph.nodes.get(row.key) ?? []
      graph.nodes.set(row.key, [...versions, { row, fate: 'stored' }])
    }
  }
  const factIds = new Set(needs.facts.flatMap((fact) => idsOf(namespace.name, fact)))
  if (factIds.size === 0) return graph
  for (const row of await selectFacts(sql, id, [...factIds])) {
    graph.facts.set(row.factId ?? '', { row, fate: 'stored', wasOpen: row.validTo === null })
  }
  for (const { supersedes, writerVisibility, ...by } of await selectSuccessors(sql, id, [
    ...factIds,
  ])) {
    const known = graph.successors.get(supersedes) ?? []
    const writer = audienceFor(writerVisibility)
    graph.successors.set(supersedes, [...known, { by, writer }])
  }
  return graph
}

/** Every id a fact may turn out to have, and the one it replaces. */
function idsOf(namespace: string, fact: FactWrite): string[] {
  const again = { ...fact, validFrom: `${fact.observedAt.slice(0, 19)}Z` }
  return [
    factIdOf(namespace, fact),
    ...(fact.validFrom === null ? [factIdOf(namespace, again)] : []),
    ...(fact.supersedes === null ? [] : [fact.supersedes]),
  ]
}

/** Writes what became of the graph, with one statement for each kind of change. */
export async function writeGraph(sql: Sql, graph: Graph): Promise<void> {
  await writeNodes(sql, graph)
  await writeFacts(sql, graph)
}

async function writeNodes(sql: Sql, { namespace, nodes }: Graph): Promise<void> {
  const tracked = [...nodes.values()].flat()
  const fates = tracked.flatMap(({ row, fate }) =>
    fate === 'stored' || fate === 'new' ? [] : [{ ...row, fate }],
  )
  if (fates.length > 0) await updateNodes(sql, namespace, fates.map(fateOf))
  for (const { fate, item, termCount, validTo } of fates) {
    const ends = fate === 'closed' || (fate === 'retired' && validTo === null)
    namespace.changed('node', item, ends ? -1 : 0, ends ? -termCount : 0)
  }
  for (const slice of slices(tracked.filter(isNew))) {
    const rows = slice.map(({ row }) => ({ ...row, ...nodeTerms(namespace, row) }))
    await insertNodes(sql, namespace, rows)
    for (const { item, termCount, validTo } of rows) {
      namespace.changed('node', item, validTo === null ? 1 : 0, validTo === null ? termCount : 0)
    }
  }
}

function fateOf({ item, fate, validTo, lastSeen, said }: NodeFate): NodeFate {
  return { item, fate, validTo, lastSeen, said }
}

function nodeTerms(namespace: Namespace, row: NodeVersion) {
  return storedTerms(namespace, row.placeholder ? [] : nodeFields(row))
}

async function writeFacts(sql: Sql, graph: Graph): Promise<void> {
  const { namespace, facts } = graph
  const changed = [...facts.values()].filter(({ fate }) => fate === 'changed')
  if (changed.length > 0) {
    await updateFacts(
      sql,
      namespace,
      changed.map(({ row }) => row),
    )
  }
  for (const { row, wasOpen } of changed) {
    const ends = wasOpen === true && row.validTo !== null
    namespace.changed('edge', row.item, ends ? -1 : 0, ends ? -row.termCount : 0)
  }
  for (const slice of slices([...facts.values()].filter(isNew))) {
    const rows = slice.map(({ row }) => ({
      ...row,
      ...storedTerms(namespace, factFields({ ...row, titles: titlesOf(graph, row) })),
    }))
    await insertEdges(sql, namespace, rows)
    for (const { item, termCount, validTo } of rows) {
      namespace.changed('edge', item, validTo === null ? 1 : 0, validTo === null ? termCount : 0)
    }
  }
}

/** The titles of both ends when the fact begins, as everybody knows them who sees the fact. */
export function titlesOf({ nodes }: Graph, fact: FactVersion): string[] {
  const at = startOf(fact)
  return [fact.subject, fact.object].flatMap((key) => {
    const versions = (nodes.get(key) ?? []).filter(
      ({ fate, row }) => fate !== 'retired' && seenByAllOf(fact.scopes, row.scopes),
    )
    const version =
      versions.find(({ row }) => row.validFrom <= at && row.validTo === null) ?? versions.at(-1)
    return version ? [version.row.title] : []
  })
}

function isNew<T>({ fate }: Tracked<T>): boolean {
  return fate === 'new'
}
