import type { Assertion, EntityAssertion, FactAssertion } from '#contract/memory-observation.ts'
import { predicateOf } from '../graph/assert-fact.ts'
import { openVersion } from '../graph/graph.ts'
import type { Graph } from '../graph/graph.ts'
import { canonicalKind } from './catalog.ts'
import type { Catalog } from './catalog.ts'
import { builtAliases, entityMisfits, relationMisfits } from './judge.ts'
import type { Misfit } from './judge.ts'

/** An assertion in the words of the packs, and why a strict namespace cannot take it. */
export interface JudgedAssertion {
  assertion: Assertion
  misfits: Misfit[]
}

/**
 * Puts an assertion into the words of a namespace's packs: kinds by their own names, and the further names
 * that their templates give. An end or an entity whose type is only guessed from its key is what the graph
 * knows it to be. Texts are exempt. Paths of misfits begin at the assertion.
 */
export function judgeAssertion(
  catalog: Catalog,
  graph: Graph,
  assertion: Assertion,
): JudgedAssertion {
  if (assertion.assert === 'text') return { assertion, misfits: [] }
  if (assertion.assert === 'entity') {
    const { entity, misfits } = judgeEntity(catalog, graph, assertion.entity)
    return { assertion: { ...assertion, entity }, misfits }
  }
  const { fact, misfits } = judgeFact(catalog, graph, assertion.fact)
  return { assertion: { ...assertion, fact }, misfits }
}

function judgeEntity(catalog: Catalog, graph: Graph, entity: EntityAssertion) {
  const kind = kindOf(catalog, graph, entity)
  const known = openVersion(graph, { key: entity.key, scopes: entity.scopes ?? [], kind })?.row
  const attributes = { ...(known?.kind === kind && known.properties), ...entity.properties }
  const judged = { kind, key: entity.key, attributes }
  const aliases = [...(entity.aliases ?? []), ...builtAliases(catalog, judged)]
  const misfits = entityMisfits(catalog, judged).map(({ path, message }) => ({
    path: ['entity', ...path.map((step, n) => (n === 0 ? (ENTITY_FIELDS[step] ?? step) : step))],
    message,
  }))
  const named = aliases.length > 0 ? { aliases: [...new Set(aliases)] } : {}
  const type = entity.typeGiven ? kind : canonicalKind(catalog, entity.type)
  return { entity: { ...entity, ...named, type }, misfits }
}

const ENTITY_FIELDS: Readonly<Record<string, string>> = { kind: 'type', attributes: 'properties' }

function judgeFact(catalog: Catalog, graph: Graph, fact: FactAssertion) {
  const judged = {
    relation: predicateOf(fact.predicate).toLowerCase(),
    fromKind: kindOf(catalog, graph, fact.subject),
    toKind: kindOf(catalog, graph, fact.object),
  }
  const named = (end: FactAssertion['subject']) => ({
    ...end,
    type: canonicalKind(catalog, end.type),
  })
  const misfits = relationMisfits(catalog, judged).map(({ path: [first = ''], message }) => ({
    path: ['fact', ...(FACT_FIELDS[first] ?? [first])],
    message,
  }))
  return { fact: { ...fact, subject: named(fact.subject), object: named(fact.object) }, misfits }
}

const FACT_FIELDS: Readonly<Record<string, string[]>> = {
  relation: ['predicate'],
  from: ['subject', 'type'],
  to: ['object', 'type'],
}

/** The kind given; else what the graph knows the key to be; else what the key begins with. */
function kindOf(
  catalog: Catalog,
  graph: Graph,
  { key, type, typeGiven }: { key: string; type: string; typeGiven: boolean },
): string {
  const known = typeGiven ? undefined : openVersion(graph, { key, scopes: [] })?.row
  return canonicalKind(catalog, known && !known.placeholder ? known.kind : type)
}

/** What is wrong, in one line: `entity.properties.size must be integer`. */
export function misfitPhrase(misfits: readonly Misfit[]): string {
  return misfits.map(({ path, message }) => `${path.join('.')} ${message}`).join(', ')
}
