import { sha256 } from '#lib/id.ts'
import { foreign } from '../access/caller.ts'
import { mayEnd, mergedScopes, ownerOf, seenByAllOf } from '../scopes.ts'
import { isVisible, isVisibilityScope } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { addVersion, replaceVersion, versionsOf, versionsWithin } from './graph.ts'
import type { FactVersion, Graph, Successor, Tracked } from './graph.ts'

export interface FactEnd {
  key: string
  type: string
  title?: string | undefined
}

export interface FactWrite {
  subject: FactEnd
  predicate: string
  object: FactEnd
  /** Whole seconds, `2026-01-15T10:00:00Z`; null for ever. */
  validFrom: string | null
  validTo: string | null
  /** When the evidence is from, six digits of a second. */
  observedAt: string
  confidence: number
  supersedes: string | null
  attributes: Record<string, unknown>
  scopes: readonly string[]
  sourcePath: string | null
  observationId: string
}

/**
 * States a fact. A fact stated before is reinforced: more evidence, the greater confidence. Ends that
 * do not exist become placeholders, so the order of delivery does not matter; neither does it for
 * `supersedes`, which closes the older fact where the newer begins, whichever comes first.
 *
 * Throws `permission_denied` when an end or the fact itself is invisible to the writer.
 */
export function assertFact(graph: Graph, write: FactWrite, writer: Audience): FactVersion {
  const { tracked: held, factId } = heldFact(graph, write)
  if (held && !isVisible(held.row.scopes, writer)) throw foreign()
  for (const end of [write.subject, write.object]) requireVisible(graph, end, writer)
  for (const end of [write.subject, write.object]) ensureEnd(graph, end, write)
  const fact = held ? reinforced(held, write) : created(graph, factId, write)
  succeed(graph, fact, write, writer)
  return fact.row
}

/** Closes the fact this one replaces, and this one if its own successor came first. */
function succeed(
  graph: Graph,
  fact: Tracked<FactVersion>,
  { supersedes }: FactWrite,
  writer: Audience,
): void {
  const { factId } = fact.row
  if (supersedes !== null && supersedes !== factId) {
    const older = graph.facts.get(supersedes)
    if (!older) announce(graph, supersedes, fact.row, writer)
    else if (isVisible(older.row.scopes, writer)) closeFact(older, fact.row)
  }
  for (const { by, writer: theirs } of graph.successors.get(factId ?? '') ?? []) {
    if (isVisible(fact.row.scopes, theirs)) closeFact(fact, by)
  }
}

/** The start of a fact as readers see it. */
export function startOf({ validFrom, observedAt }: Pick<FactVersion, 'validFrom' | 'observedAt'>) {
  return validFrom ?? observedAt
}

/** Letters and digits in upper case, anything else as `_`: `depends on` and `DEPENDS_ON` are one. */
export function predicateOf(text: string): string {
  const name = text
    .normalize('NFC')
    .trim()
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
  return name.toUpperCase().slice(0, 128)
}

/**
 * `fact-` and the first 24 hex digits of a hash over what makes a fact itself. What somebody keeps
 * private is a fact of its own: nothing of it reaches the one that others know.
 */
export function factIdOf(namespace: string, write: FactWrite): string {
  const { subject, predicate, object, validFrom } = write
  const identity = [namespace, subject.key, predicateOf(predicate), object.key, validFrom ?? '']
  const owner = ownerOf(write.scopes)
  if (owner !== '') identity.push(owner)
  return `fact-${sha256(identity.join('|')).slice(0, 24)}`
}

/**
 * The fact as it is held. One that has ended and is said again for a later time, without saying since
 * when, holds anew from then on: it is another fact.
 */
function heldFact(
  graph: Graph,
  write: FactWrite,
): { factId: string; tracked: Tracked<FactVersion> | undefined } {
  const { name } = graph.namespace
  const factId = factIdOf(name, write)
  const tracked = graph.facts.get(factId)
  const ended = tracked?.row.validTo ?? null
  const knows = tracked?.row.observationIds.includes(write.observationId) === true
  if (write.validFrom !== null || ended === null || knows || write.observedAt < ended) {
    return { factId, tracked }
  }
  const again = factIdOf(name, { ...write, validFrom: `${write.observedAt.slice(0, 19)}Z` })
  return { factId: again, tracked: graph.facts.get(again) }
}

function requireVisible(graph: Graph, end: FactEnd, writer: Audience): void {
  const versions = versionsWithin(graph, { key: end.key, scopes: [] })
  const known = versions.findLast(({ row }) => row.validTo === null) ?? versions.at(-1)
  if (known && !known.row.placeholder && !isVisible(known.row.scopes, writer)) throw foreign()
}

function ensureEnd(graph: Graph, end: FactEnd, write: FactWrite): void {
  const start = write.validFrom === null ? write.observedAt : micros(write.validFrom)
  const { key } = end
  const owner = ownerOf(write.scopes)
  const [first] = versionsOf(graph, key).filter(({ row }) =>
    ['', owner].includes(ownerOf(row.scopes)),
  )
  if (!first) {
    addVersion(graph, {
      key,
      kind: end.type,
      title: end.title?.trim() ? end.title : key,
      properties: {},
      aliases: [],
      sourcePath: null,
      observationId: null,
      provenance: null,
      confidence: null,
      origin: 'agent',
      placeholder: true,
      scopes: [...write.scopes],
      validFrom: start,
      validTo: null,
      lastSeen: write.observedAt,
      said: {},
      termCount: 0,
    })
    return
  }
  if (!first.row.placeholder) return
  const isWider = !seenByAllOf(write.scopes, first.row.scopes)
  if (!isWider && first.row.validFrom <= start) return
  replaceVersion(graph, first, {
    validFrom: first.row.validFrom < start ? first.row.validFrom : start,
    ...(isWider && { scopes: widened(first.row.scopes, write.scopes) }),
  })
}

/** A placeholder says no more than its name, which the newer fact says too. */
function widened(held: readonly string[], given: readonly string[]): string[] {
  return given.some(isVisibilityScope) ? mergedScopes(held, given) : [...given]
}

function reinforced(held: Tracked<FactVersion>, write: FactWrite): Tracked<FactVersion> {
  const { row } = held
  if (!row.observationIds.includes(write.observationId)) {
    row.observationIds = [...row.observationIds, write.observationId]
  }
  row.confidence = Math.max(row.confidence, write.confidence)
  row.scopes = mergedScopes(row.scopes, write.scopes)
  if (write.observedAt < row.observedAt) row.observedAt = write.observedAt
  row.supersedes ??= write.supersedes
  row.validTo ??= write.validTo === null ? null : micros(write.validTo)
  if (held.fate === 'stored') held.fate = 'changed'
  return held
}

function created(graph: Graph, factId: string, write: FactWrite): Tracked<FactVersion> {
  const again = factId !== factIdOf(graph.namespace.name, write)
  const row: FactVersion = {
    item: graph.namespace.nextItem(),
    factId,
    subject: write.subject.key,
    subjectKind: write.subject.type,
    predicate: predicateOf(write.predicate),
    object: write.object.key,
    objectKind: write.object.type,
    attributes: write.attributes,
    validFrom: again ? write.observedAt : write.validFrom && micros(write.validFrom),
    validTo: write.validTo && micros(write.validTo),
    observedAt: write.observedAt,
    confidence: write.confidence,
    observationIds: [write.observationId],
    supersedes: write.supersedes,
    supersededBy: null,
    sourcePath: write.sourcePath,
    origin: 'agent',
    scopes: [...write.scopes],
    termCount: 0,
  }
  const tracked: Tracked<FactVersion> = { row, fate: 'new' }
  graph.facts.set(factId, tracked)
  return tracked
}

/** Ends a fact where its successor begins, unless it ended before or others would lose it unseen. */
function closeFact(older: Tracked<FactVersion>, by: Successor): void {
  const { row } = older
  if (!mayEnd(by.scopes, row.scopes)) return
  const begins = startOf(by)
  const at = begins < startOf(row) ? startOf(row) : begins
  if (row.validTo !== null && row.validTo <= at) return
  row.validTo = at
  row.supersededBy = by.factId
  if (older.fate === 'stored') older.fate = 'changed'
}

function announce(graph: Graph, older: string, by: Successor, writer: Audience): void {
  const known = graph.successors.get(older) ?? []
  graph.successors.set(older, [...known, { by, writer }])
}

function micros(seconds: string): string {
  return seconds.replace(/Z$/, '.000000Z')
}
