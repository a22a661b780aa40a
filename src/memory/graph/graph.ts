import { ownerOf } from '../scopes.ts'
import type { Namespace } from '../store/write.ts'
import type { Audience } from '../visibility.ts'
import { splitSaid } from './said.ts'
import type { Said } from './said.ts'

/** One version of a node; text moments are UTC with six digits of a second. */
export interface NodeVersion {
  item: number
  key: string
  kind: string
  title: string
  properties: Record<string, unknown>
  aliases: string[]
  sourcePath: string | null
  observationId: string | null
  provenance: Record<string, unknown> | null
  confidence: number | null
  origin: 'agent' | 'vault' | 'snapshot'
  placeholder: boolean
  scopes: string[]
  validFrom: string
  validTo: string | null
  lastSeen: string
  said: Said
  /** Words in the index, for the statistics. */
  termCount: number
}

export interface FactVersion {
  item: number
  factId: string | null
  subject: string
  subjectKind: string
  predicate: string
  object: string
  objectKind: string
  attributes: Record<string, unknown>
  validFrom: string | null
  validTo: string | null
  observedAt: string
  confidence: number
  observationIds: string[]
  supersedes: string | null
  supersededBy: string | null
  sourcePath: string | null
  origin: 'agent' | 'vault' | 'snapshot'
  scopes: string[]
  termCount: number
}

/** What closes an older fact, where it begins, and who sees it. */
export type Successor = Pick<FactVersion, 'factId' | 'validFrom' | 'observedAt' | 'scopes'>

/** What happened to a version since it was read: it is written that way. */
export type Fate = 'stored' | 'new' | 'changed' | 'closed' | 'retired'

export interface Tracked<T> {
  row: T
  fate: Fate
  /** Whether it was open when it was read. */
  wasOpen?: boolean
}

/**
 * The part of a namespace's graph that a write touches, held in memory while it changes: read with a
 * few queries before, written with a few after, whatever the number of assertions.
 */
export interface Graph {
  namespace: Namespace
  /** Versions of the keys concerned that no correction has replaced, by key. */
  nodes: Map<string, Tracked<NodeVersion>[]>
  facts: Map<string, Tracked<FactVersion>>
  /** Facts that name another as superseded before it was known, by the fact superseded. */
  successors: Map<string, { by: Successor; writer: Audience }[]>
}

export function emptyGraph(namespace: Namespace): Graph {
  return { namespace, nodes: new Map(), facts: new Map(), successors: new Map() }
}

/** Versions of a key in the order of time. */
export function versionsOf(graph: Graph, key: string): Tracked<NodeVersion>[] {
  return (graph.nodes.get(key) ?? [])
    .filter(({ fate }) => fate !== 'retired')
    .toSorted((a, b) => (a.row.validFrom < b.row.validFrom ? -1 : 1))
}

/** Something by its key, as it is shared or, for scopes that are private, as its owner alone knows it. */
export interface Known {
  key: string
  scopes: readonly string[]
}

/**
 * The versions that something said with these scopes joins, in the order of time. What is private has a
 * history apart, so nothing of it reaches what others see, nor what another keeps private.
 */
export function versionsWithin(graph: Graph, { key, scopes }: Known): Tracked<NodeVersion>[] {
  const owner = ownerOf(scopes)
  return versionsOf(graph, key).filter(({ row }) => ownerOf(row.scopes) === owner)
}

/** The version that is open now, of the kind asked for if there is one. */
export function openVersion(
  graph: Graph,
  { kind, ...known }: Known & { kind?: string },
): Tracked<NodeVersion> | undefined {
  const open = versionsWithin(graph, known).filter(({ row }) => row.validTo === null)
  return open.find(({ row }) => row.kind === kind) ?? open.at(-1)
}

export function addVersion(graph: Graph, version: Omit<NodeVersion, 'item'>): NodeVersion {
  const row = { ...version, item: graph.namespace.nextItem() }
  const versions = graph.nodes.get(row.key) ?? []
  versions.push({ row, fate: 'new' })
  graph.nodes.set(row.key, versions)
  return row
}

/** Puts a corrected version in the place of one; what was believed before stays readable. */
export function replaceVersion(
  graph: Graph,
  version: Tracked<NodeVersion>,
  change: Partial<NodeVersion>,
): void {
  if (version.fate === 'new') {
    Object.assign(version.row, change)
    return
  }
  version.fate = 'retired'
  addVersion(graph, { ...version.row, ...change })
}

/** Ends a version at a moment at which it was believed to go on. */
export function endVersion(graph: Graph, version: Tracked<NodeVersion>, at: string): void {
  const said = splitSaid(version.row.said, at).before
  if (version.fate === 'new' || version.row.validTo !== null) {
    replaceVersion(graph, version, { validTo: at, said })
    return
  }
  version.row.validTo = at
  version.row.said = said
  version.fate = 'closed'
}
