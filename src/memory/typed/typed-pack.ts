import type { TypedPack } from '#contract/memory-typed.ts'
import { plainInstant } from '#lib/instant.ts'
import { neutralise } from '#lib/neutralise.ts'
import { shown } from '../shown.ts'
import type { Findings, FoundEntity, FoundFact } from './found.ts'

type Entity = TypedPack['sections'][number]['items'][number]
type Fact = TypedPack['facts'][number]

/** The findings as they are told: entities by kind, facts by id, and what all of it rests on. */
export function partsOf({
  entities,
  facts,
}: Findings): Pick<TypedPack, 'sections' | 'facts' | 'used' | 'sources'> {
  const items = Array.from(entities.values(), (found) => shown(entityOf(found))).toSorted(
    (a, b) => compare(a.kind, b.kind) || compare(a.key, b.key) || compare(a.namespace, b.namespace),
  )
  const told = Array.from(facts.values(), (found) => shown(factOf(found))).toSorted((a, b) =>
    compare(a.fact_id, b.fact_id),
  )
  return {
    sections: Array.from(
      Map.groupBy(items, ({ kind }) => kind),
      ([kind, some]) => ({ kind, items: some }),
    ),
    facts: told,
    used: {
      entities: items.map(({ kind, key, namespace }) => ({ kind, key, namespace })),
      facts: told.map(({ fact_id: id }) => id),
      snapshots: snapshotsOf(told),
    },
    sources: sourcesOf(items, told),
  }
}

function entityOf({ namespace, state, evidence, anchor }: FoundEntity): Entity {
  const { key, kind, title, properties, aliases, sourcePath, provenance } = state
  const texts = [title, ...Object.values(properties).filter((value) => typeof value === 'string')]
  const { suspicious } = neutralise(texts.join('\n'))
  return {
    kind,
    key,
    namespace: namespace.namespace,
    title,
    attributes: properties,
    aliases,
    source_path: sourcePath,
    provenance,
    valid_from: plainInstant(state.validFrom),
    valid_to: state.validTo === null ? null : plainInstant(state.validTo),
    evidence,
    ...(anchor && { anchor: true as const }),
    ...(state.placeholder && { placeholder: true as const }),
    ...(suspicious.length > 0 && { suspicious }),
  }
}

function factOf({ row, namespace, subject, object }: FoundFact): Fact {
  const { snapshotSource: source, snapshotScope: scope, snapshotId } = row
  return {
    fact_id: row.factId ?? `edge:${row.edge}`,
    namespace: namespace.namespace,
    relation: row.predicate,
    subject: { kind: subject.kind, key: subject.key },
    object: { kind: object.kind, key: object.key },
    valid_from: row.from === null ? null : plainInstant(row.from),
    valid_to: row.to === null ? null : plainInstant(row.to),
    evidence: row.evidence,
    confidence: row.confidence,
    attributes: row.attributes,
    source_path: row.edgePath,
    supersedes: row.supersedes,
    snapshot:
      source === null || scope === null || snapshotId === null
        ? null
        : { source, scope, snapshot_id: snapshotId },
  }
}

function snapshotsOf(facts: readonly Fact[]): TypedPack['used']['snapshots'] {
  const snapshots = new Map(
    facts.flatMap(({ snapshot }) => (snapshot ? [[JSON.stringify(snapshot), snapshot]] : [])),
  )
  return Array.from(snapshots)
    .toSorted(([a], [b]) => compare(a, b))
    .map(([, one]) => one)
}

function sourcesOf(entities: readonly Entity[], facts: readonly Fact[]): TypedPack['sources'] {
  const sources = new Map<string, TypedPack['sources'][number]>()
  for (const { source_path: path, key, title } of entities) {
    if (path !== null) sources.set(`${path}\n${key}`, { source_path: path, node_key: key, title })
  }
  for (const { source_path: path } of facts) {
    if (path !== null) sources.set(path, { source_path: path, node_key: null, title: null })
  }
  return [...sources.values()]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
