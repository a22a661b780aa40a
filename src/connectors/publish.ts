import { reconcileSnapshot } from '#contract/knowledge.ts'
import { AppError } from '#lib/errors.ts'
import type { PlannedSnapshot } from './plan.ts'
import { hashText } from './snapshot.ts'
import { callPatiently } from './target.ts'
import type { Target } from './target.ts'

/** What memory made of one snapshot. */
export interface SnapshotOutcome {
  readonly opened: number
  readonly closed: number
  readonly unchanged: number
  readonly superseded: number
  /** Relations that wait for an end which memory does not have. */
  readonly pending: number
  readonly duplicate: boolean
  readonly warnings: readonly string[]
}

const MAX_REFUSED_VALUES = 100
const REMOVED = '[removed: looked like a secret]'

/**
 * Sends one snapshot, safe to repeat. A value that is refused because it looks like a secret is replaced
 * and named in a warning, so that one commit message cannot keep the rest out. A snapshot that memory
 * finds older than what it has is dated now: the connector has just read the source.
 */
export async function publishSnapshot(
  target: Target,
  source: string,
  snapshot: PlannedSnapshot,
): Promise<SnapshotOutcome> {
  const warnings: string[] = []
  let current = snapshot
  for (let refused = 0; ;) {
    try {
      const answer = await send(target, source, current)
      if (answer['duplicate'] === true && answer['contentDiffers'] === true) {
        current = { ...current, snapshotId: otherId(current, answer) }
        refused = countedUp(refused, snapshot)
        continue
      }
      return { ...counters(answer), warnings }
    } catch (error) {
      const next = repaired(error, current, target.clock.now())
      if (!next) throw error
      if (next.warning !== undefined) warnings.push(next.warning)
      current = next.snapshot
      refused = countedUp(refused, snapshot)
    }
  }
}

async function send(
  target: Target,
  source: string,
  { scope, snapshotId, observedAt, entities, relations }: PlannedSnapshot,
): Promise<Record<string, unknown>> {
  return await callPatiently(target, reconcileSnapshot, {
    body: {
      workspaceId: target.workspaceId,
      ...(target.pack === undefined ? {} : { pack: target.pack }),
      source,
      scope,
      snapshotId,
      observedAt,
      entities: entities.map((entity) => ({ ...entity })),
      relations: relations.map((relation) => ({ ...relation })),
    },
  })
}

function countedUp(refused: number, { scope }: PlannedSnapshot): number {
  if (refused >= MAX_REFUSED_VALUES) {
    throw new Error(`Cannot publish "${scope}": refused ${MAX_REFUSED_VALUES} times`)
  }
  return refused + 1
}

interface Repair {
  snapshot: PlannedSnapshot
  warning?: string
}

function repaired(error: unknown, snapshot: PlannedSnapshot, now: Date): Repair | undefined {
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'secret_refused') return withoutValue(error.details['pointer'], snapshot)
  if (error.code !== 'snapshot_stale') return undefined
  const observedAt = `${now.toISOString().slice(0, 19)}Z`
  return observedAt > snapshot.observedAt ? { snapshot: { ...snapshot, observedAt } } : undefined
}

/** Replaces the text that a pointer names (`body.entities.0.title` or `/entities/0/title`); undefined when it names none of ours. */
function withoutValue(pointer: unknown, snapshot: PlannedSnapshot): Repair | undefined {
  if (typeof pointer !== 'string') return undefined
  const steps = pointer.split(/[/.]/).filter((step) => step !== '' && step !== '#')
  if (steps[0] === 'body') steps.shift()
  const copy = structuredClone({
    entities: snapshot.entities,
    relations: snapshot.relations,
  }) as unknown
  const last = steps.pop()
  let holder = copy
  for (const step of steps) {
    if (typeof holder !== 'object' || holder === null) return undefined
    holder = (holder as Record<string, unknown>)[step]
  }
  if (last === undefined || typeof holder !== 'object' || holder === null) return undefined
  const record = holder as Record<string, unknown>
  if (typeof record[last] !== 'string' || record[last] === REMOVED) return undefined
  record[last] = REMOVED
  return {
    snapshot: { ...snapshot, ...(copy as Pick<PlannedSnapshot, 'entities' | 'relations'>) },
    warning: `A value of ${snapshot.scope} at ${pointer} looked like a secret and was left out`,
  }
}

function otherId(snapshot: PlannedSnapshot, answer: Record<string, unknown>): string {
  const state = answer['stateToken'] ?? answer['state_token'] ?? snapshot.observedAt
  return `${snapshot.snapshotId}~${hashText(JSON.stringify(state)).slice(0, 8)}`
}

function counters(answer: Record<string, unknown>): Omit<SnapshotOutcome, 'warnings'> {
  const count = (name: string, counted: unknown = answer): number => {
    const value = (counted as Record<string, unknown> | undefined)?.[name]
    return typeof value === 'number' ? value : 0
  }
  return {
    opened: count('opened'),
    closed: count('closed'),
    unchanged: count('unchanged'),
    superseded: count('superseded'),
    pending: count('pending', answer['relations']),
    duplicate: answer['duplicate'] === true,
  }
}
