import type { ErasureMode } from '#contract/memory-deletion.ts'
import type { Sql } from '#db/sql.ts'
import { factFields } from '../analysis/fields.ts'
import type { TextField } from '../analysis/terms-of.ts'
import { storedTerms } from '../store/terms.ts'
import type { Namespace } from '../store/write.ts'
import { readGraph, titlesOf } from '../store/write-graph.ts'
import {
  deleteEdges,
  dropEvidence,
  loseEvidence,
  selectFactsAbout,
  selectFactsOn,
  updateFactTerms,
} from './derived.sql.ts'
import type { EvidencedFact } from './derived.sql.ts'

export interface ErasedFacts {
  facts: number
  kept: number
  fields: TextField[]
  /** Ids of the facts that are gone, and the keys of their ends. */
  ids: string[]
  ends: string[]
}

/**
 * Takes an observation out of the evidence of facts. One that rests on nothing else is marked as such
 * (`redact`) or removed (`purge`); what it had closed stays closed.
 */
export async function eraseFacts(
  sql: Sql,
  namespace: Namespace,
  { observationId, mode }: { observationId: string; mode: ErasureMode },
): Promise<ErasedFacts> {
  const facts = await selectFactsOn(sql, namespace.id, observationId)
  const [lost, kept] = [facts.filter(isAlone), facts.filter((fact) => !isAlone(fact))]
  const items = lost.map(({ item }) => item)
  if (mode === 'purge') await deleteEdges(sql, namespace.id, items)
  else await loseEvidence(sql, namespace, items)
  const left = kept.map(({ item }) => item)
  await dropEvidence(sql, namespace.id, { observationId, items: left })
  for (const { item, isOpen, termCount } of lost) {
    namespace.changed('edge', item, isOpen ? -1 : 0, isOpen ? -termCount : 0)
  }
  for (const item of left) namespace.changed('edge', item, 0, 0)
  return {
    facts: lost.length,
    kept: kept.length,
    fields: lost.flatMap((fact) => factFields({ ...fact, titles: [] })),
    ids: lost.flatMap(({ factId }) => factId ?? []),
    ends: [...new Set(lost.flatMap(({ subject, object }) => [subject, object]))],
  }
}

function isAlone({ observationIds }: EvidencedFact): boolean {
  return observationIds.length <= 1
}

/** Facts are found by the titles of their ends as well: those of ends that are called otherwise now. */
export async function retitleFacts(
  sql: Sql,
  namespace: Namespace,
  keys: readonly string[],
): Promise<void> {
  const facts = keys.length === 0 ? [] : await selectFactsAbout(sql, namespace.id, keys)
  if (facts.length === 0) return
  const ends = new Set(facts.flatMap(({ subject, object }) => [subject, object]))
  const graph = await readGraph(sql, namespace, { keys: ends, facts: [], since: '-infinity' })
  const rows = facts.map((fact) => ({
    ...storedTerms(namespace, factFields({ ...fact, titles: titlesOf(graph, fact) })),
    item: fact.item,
  }))
  await updateFactTerms(sql, namespace.id, rows)
  for (const [index, { item, isOpen, termCount }] of facts.entries()) {
    const delta = (rows[index]?.termCount ?? 0) - termCount
    namespace.changed('edge', item, 0, isOpen ? delta : 0)
  }
}
