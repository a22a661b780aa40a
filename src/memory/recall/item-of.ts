import type { NamespaceRow } from './lexical.sql.ts'
import type { ChunkRow, FactRow, NodeRow, ObservationRow } from './items.sql.ts'
import type { Item } from './item.ts'

/** What all items of a namespace share. */
function base({ namespace, id }: NamespaceRow, item: string) {
  return { key: `${id}:${item}`, namespace, closedAt: null, supersededBy: null, author: null }
}

export function observationItem(namespace: NamespaceRow, row: ObservationRow): Item {
  const source = {
    system: row.sourceSystem,
    stream: row.sourceStream,
    external_id: row.externalId,
  }
  const { uri } = row.provenance ?? {}
  return {
    ...base(namespace, row.item),
    kind: 'observation',
    id: row.observationId,
    text: row.content ?? (row.data === null ? '' : JSON.stringify(row.data)),
    title: row.title,
    scopes: row.scopes,
    at: row.occurredAt,
    closedAt: row.validTo,
    supersededBy: row.supersededBy,
    type: row.kind,
    author: row.actorId,
    about: row.subjectId === null ? [] : [`${row.subjectType ?? 'entity'}:${row.subjectId}`],
    nodeKey: null,
    chunkOrder: null,
    sourcePath: typeof uri === 'string' ? uri : null,
    source,
    provenance: {
      ...row.provenance,
      observation_id: row.observationId,
      source,
      kind: row.kind,
      occurred_at: row.occurredAt.toISOString(),
      ...(row.actorId !== null && { actor: { type: row.actorType, id: row.actorId } }),
      ...(row.subjectId !== null && { subject: { type: row.subjectType, id: row.subjectId } }),
    },
    fact: null,
  }
}

export function chunkItem(namespace: NamespaceRow, row: ChunkRow): Item {
  return {
    ...base(namespace, row.item),
    kind: 'chunk',
    id: `chunk:${row.item}`,
    text: row.text,
    title: chunkTitle(row),
    scopes: row.scopes,
    at: row.validFrom,
    closedAt: row.validTo,
    type: row.docType,
    about: [row.nodeKey],
    nodeKey: row.nodeKey,
    chunkOrder: row.chunkOrder,
    sourcePath: row.sourcePath,
    source: null,
    provenance: {
      node_key: row.nodeKey,
      chunk_order: row.chunkOrder,
      ...(row.observationId !== null && { observation_id: row.observationId }),
    },
    fact: null,
  }
}

/** The title of the document and the headings that the text stands under, which often begin with it. */
function chunkTitle({ title, heading }: Pick<ChunkRow, 'title' | 'heading'>): string | null {
  if (heading === null || title === null || title === '') return heading ?? title
  return `${heading} > `.startsWith(`${title} > `) ? heading : `${title} — ${heading}`
}

export function entityItem(namespace: NamespaceRow, row: NodeRow): Item {
  const { content } = row.properties
  return {
    ...base(namespace, row.item),
    kind: 'entity',
    id: `node:${row.key}`,
    text: typeof content === 'string' && content.trim() !== '' ? content : row.title,
    title: row.title,
    scopes: row.scopes,
    at: row.validFrom,
    closedAt: row.validTo,
    type: row.kind,
    about: [row.key],
    nodeKey: row.key,
    chunkOrder: null,
    sourcePath: row.sourcePath,
    source: null,
    provenance: {
      ...row.provenance,
      node_key: row.key,
      kind: row.kind,
      origin: row.origin,
      ...(row.observationId !== null && { observation_id: row.observationId }),
    },
    fact: null,
  }
}

export function factItem(namespace: NamespaceRow, row: FactRow): Item {
  const { subject, predicate, object, validFrom, validTo, evidence, confidence } = row
  return {
    ...base(namespace, row.item),
    kind: 'fact',
    id: row.factId,
    text: `${subject} —${predicate}→ ${object}${interval(validFrom, validTo)}`,
    title: null,
    scopes: row.scopes,
    at: row.startsAt,
    closedAt: validTo,
    supersededBy: row.supersededBy,
    type: predicate,
    about: [subject, object],
    nodeKey: null,
    chunkOrder: null,
    sourcePath: row.sourcePath,
    source: null,
    provenance: {
      fact_id: row.factId,
      subject,
      predicate,
      object,
      evidence,
      confidence,
      observed_at: row.observedAt.toISOString(),
      observation_ids: row.observationIds,
      origin: row.origin,
      ...(Object.keys(row.attributes).length > 0 && { attributes: row.attributes }),
      ...(row.supersedes !== null && { supersedes: row.supersedes }),
    },
    fact: { subject, predicate, object, validFrom, validTo, evidence, confidence },
  }
}

/** When a fact held, as it is read: open ends are left out. */
function interval(from: Date | null, to: Date | null): string {
  if (from !== null && to !== null) return ` (${day(from)} – ${day(to)})`
  if (from !== null) return ` (since ${day(from)})`
  return to === null ? '' : ` (until ${day(to)})`
}

function day(at: Date): string {
  return at
    .toISOString()
    .replace(/T00:00:00\.000Z$/u, '')
    .replace('.000Z', 'Z')
}
