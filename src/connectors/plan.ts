import type { Part } from './part.ts'
import { hashText } from './snapshot.ts'
import type { AttributeValue, SnapshotEntity, SnapshotRelation } from './snapshot.ts'

/** What memory holds of one part, as its marker says. */
export interface RecordedPart {
  readonly scope: string
  readonly digest: string
  readonly generation: number
  /** ISO 8601, UTC, seconds. */
  readonly observedAt: string
  /** Only on the head part: what it was made from, and all other parts at that time. */
  readonly fingerprint?: string
  readonly manifest?: string
}

export interface PlannedSnapshot {
  readonly scope: string
  readonly snapshotId: string
  readonly observedAt: string
  readonly entities: readonly SnapshotEntity[]
  readonly relations: readonly SnapshotRelation[]
  readonly reason: 'new' | 'changed' | 'retired'
  /** What memory will hold once the snapshot has been accepted. */
  readonly recorded: RecordedPart
}

/** Which system the parts come from, and the name that all its scopes begin with. */
export interface Origin {
  readonly source: string
  readonly root: string
}

export interface PlanContext {
  readonly origin: Origin
  readonly recorded: ReadonlyMap<string, RecordedPart>
  readonly now: Date
  /** Seconds since 1970 for parts that name no time themselves. */
  readonly at: number | undefined
}

export interface Plan {
  readonly snapshots: readonly PlannedSnapshot[]
  /** Parts that memory already holds as they are. */
  readonly unchanged: number
}

export const MARKER_KIND = 'import_part'
const EMPTY = 'empty'

/**
 * Compares parts with what memory holds and says which snapshots bring it up to date. The marker of a
 * part travels inside its snapshot, so both change together. A scope that no part fills any more is
 * emptied when `mayRetire` allows it, after everything else: until then its content has two sources.
 *
 * The generation makes a snapshot id new whenever a part returns to an earlier content; without it
 * memory would take the return for a repeat and keep the content in between.
 */
export function planParts(
  parts: readonly Part[],
  context: PlanContext,
  mayRetire: (scope: string) => boolean,
): Plan {
  const filled = new Set(parts.map(({ scope }) => scope))
  const changed = parts.filter(
    ({ scope, digest }) => context.recorded.get(scope)?.digest !== digest,
  )
  const retired = [...context.recorded.values()].filter(
    ({ scope, digest }) => digest !== EMPTY && !filled.has(scope) && mayRetire(scope),
  )
  return {
    snapshots: [
      ...changed.map((part) => planSnapshot(part, context)),
      ...retired.map(({ scope }) => planSnapshot(emptyPart(scope), context)),
    ],
    unchanged: parts.length - changed.length,
  }
}

/** The head part, with what the whole publication was made from; undefined when nothing changed. */
export function planHead(
  part: Part,
  fingerprint: string,
  others: Plan,
  context: PlanContext,
): PlannedSnapshot | undefined {
  const recorded = new Map(context.recorded)
  recorded.delete(part.scope)
  for (const snapshot of others.snapshots) recorded.set(snapshot.scope, snapshot.recorded)
  const extra = { fingerprint, manifest: manifestOf([...recorded.values()]) }
  const digest = hashText(JSON.stringify([part.digest, extra])).slice(0, 32)
  if (context.recorded.get(part.scope)?.digest === digest) return undefined
  return planSnapshot({ ...part, digest }, context, extra)
}

/**
 * True when memory holds exactly what was published for this fingerprint: the head part says so, and no
 * other part has changed since.
 */
export function isCurrent(
  recorded: ReadonlyMap<string, RecordedPart>,
  headScope: string,
  fingerprint: string,
): boolean {
  const head = recorded.get(headScope)
  const others = [...recorded.values()].filter(({ scope }) => scope !== headScope)
  return head?.fingerprint === fingerprint && head.manifest === manifestOf(others)
}

function manifestOf(parts: readonly RecordedPart[]): string {
  const lines = parts.map(({ scope, digest, generation }) => `${scope} ${digest} ${generation}\n`)
  return hashText(lines.toSorted().join('')).slice(0, 32)
}

function planSnapshot(
  part: Part,
  context: PlanContext,
  extra: { fingerprint?: string; manifest?: string } = {},
): PlannedSnapshot {
  const { scope, digest } = part
  const before = context.recorded.get(scope)
  const recorded: RecordedPart = {
    scope,
    digest,
    generation: (before?.generation ?? 0) + 1,
    observedAt: observedAt(part.at ?? context.at, before?.observedAt, context.now),
    ...extra,
  }
  return {
    scope,
    snapshotId: `${scope}@${digest.slice(0, 16)}.${recorded.generation}`,
    observedAt: recorded.observedAt,
    entities: [...part.entities, marker(part, recorded, context.origin)],
    relations: part.relations,
    reason: digest === EMPTY ? 'retired' : before === undefined ? 'new' : 'changed',
    recorded,
  }
}

/**
 * When the content of a part began to hold: the time it names, unless that lies in the future or not
 * after the content it replaces; then now.
 */
function observedAt(at: number | undefined, before: string | undefined, now: Date): string {
  const named = at === undefined ? undefined : new Date(at * 1000)
  const usable =
    named !== undefined && named <= now && (before === undefined || iso(named) > before)
  const chosen = iso(usable ? named : now)
  return before !== undefined && chosen < before ? before : chosen
}

function iso(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

function marker(part: Part, recorded: RecordedPart, origin: Origin): SnapshotEntity {
  const attributes: Record<string, AttributeValue> = {
    source: origin.source,
    root: origin.root,
    items: part.entities.length + part.relations.length,
    ...recorded,
  }
  return {
    kind: MARKER_KIND,
    key: `${MARKER_KIND}:${origin.source}:${part.scope}`,
    title: `${part.scope} (${origin.source} import)`,
    attributes,
  }
}

/** Reads a marker back; undefined when the attributes are not those of a marker. */
export function recordedPart(
  attributes: Readonly<Record<string, unknown>>,
): RecordedPart | undefined {
  const { scope, digest, generation, observedAt: at, fingerprint, manifest } = attributes
  if (typeof scope !== 'string' || typeof digest !== 'string') return undefined
  if (typeof generation !== 'number' || typeof at !== 'string') return undefined
  return {
    scope,
    digest,
    generation,
    observedAt: at,
    ...(typeof fingerprint === 'string' ? { fingerprint } : {}),
    ...(typeof manifest === 'string' ? { manifest } : {}),
  }
}

function emptyPart(scope: string): Part {
  return { scope, entities: [], relations: [], digest: EMPTY, bytes: 0, at: undefined }
}
