import type { TypedBody, TypedPack } from '#contract/memory-typed.ts'
import type { Sql } from '#db/sql.ts'
import { predicateOf } from '../graph/assert-fact.ts'
import type { Reader } from '../recall/reader.ts'
import { satisfies } from '../where.ts'
import type { Test } from '../where.ts'
import { entityIdOf, weaker } from './found.ts'
import type { Findings, FoundEntity } from './found.ts'
import { selectStep } from './state.sql.ts'
import type { EntityState, StepRow } from './state.sql.ts'

export type Step = TypedBody['traverse'][number]
export type StepStats = TypedPack['stats']['steps'][number]

export interface StepRun {
  reader: Reader
  step: Step
  tests: readonly Test[]
  starts: readonly FoundEntity[]
}

interface Progress extends StepRun {
  findings: Findings
  stats: StepStats
  /** Everything the step has come to, what it brought and what was there before. */
  reached: Map<string, FoundEntity>
  refused: Set<string>
}

/** Edges read beyond what the limit asks for, so that hubs of refused entities do not hide the rest. */
const EDGES_PER_ENTITY = 5
const MORE_EDGES = 50

/**
 * Follows one relation as deep as the step says and adds what it finds to the findings. One statement for
 * each level of depth.
 *
 * @returns everything the step came to, and its figures
 */
export async function takeStep(
  sql: Sql,
  findings: Findings,
  run: StepRun,
): Promise<{ reached: FoundEntity[]; stats: StepStats }> {
  const { relation, direction, from, depth, limit } = run.step
  const predicate = predicateOf(relation)
  const stats = { entities: 0, facts: 0, filtered: 0, truncated: false }
  const progress: Progress = {
    ...run,
    findings,
    reached: new Map(),
    refused: new Set(),
    stats: { relation: predicate, direction, from, ...stats },
  }
  const visited = new Set(run.starts.map(({ id }) => id))
  let frontier = run.starts
  for (let level = 0; level < depth && frontier.length > 0; level++) {
    const starts = frontier
    const rows = await selectStep(sql, {
      reader: run.reader,
      starts: starts.map(({ namespace, state: { kind, key } }) => {
        return { namespaceId: namespace.id, kind, key }
      }),
      predicate,
      directions: direction === 'both' ? ['out', 'in'] : [direction],
      limit: limit * EDGES_PER_ENTITY + MORE_EDGES,
    })
    const next = follow(progress, starts, rows)
    frontier = next.filter(({ id }) => !visited.has(id))
    for (const { id } of frontier) visited.add(id)
  }
  progress.stats.filtered = progress.refused.size
  return { reached: [...progress.reached.values()], stats: progress.stats }
}

/** Takes up what the edges lead to, as far as the limit goes. */
function follow(
  progress: Progress,
  starts: readonly FoundEntity[],
  rows: readonly StepRow[],
): FoundEntity[] {
  const { step, stats } = progress
  const edges = Map.groupBy(rows, (row) => `${row.namespaceId} ${row.direction} ${row.edge}`)
  const next: FoundEntity[] = []
  const read = new Map<string, number>()
  const most = step.limit * EDGES_PER_ENTITY + MORE_EDGES
  for (const versions of edges.values()) {
    const [row] = versions
    const near = row && starts[row.place]
    if (row === undefined || near === undefined) continue
    const group = `${row.namespaceId} ${row.direction}`
    const count = (read.get(group) ?? 0) + 1
    read.set(group, count)
    if (count > most) {
      stats.truncated = true
      continue
    }
    const far = takeUp(progress, near, versions)
    if (far === undefined) continue
    addFact(progress, row, { near, far })
    if (!progress.reached.has(far.id)) next.push(far)
    progress.reached.set(far.id, far)
  }
  return next
}

/** The entity at the far end of an edge as part of the findings; undefined when it may not be. */
function takeUp(
  { findings, tests, step, stats, refused }: Progress,
  near: FoundEntity,
  versions: readonly StepRow[],
): FoundEntity | undefined {
  const [row] = versions
  const state = farState(versions)
  if (row === undefined || state === undefined) return undefined
  const id = entityIdOf(row.namespaceId, state)
  if (!satisfies(state.properties, tests)) {
    refused.add(id)
    return undefined
  }
  const known = findings.entities.get(id)
  if (known) return known
  if (stats.entities >= step.limit) {
    stats.truncated = true
    return undefined
  }
  const evidence = weaker(near.evidence, row.evidence)
  const found = { id, namespace: near.namespace, state, evidence, anchor: false }
  findings.entities.set(id, found)
  stats.entities += 1
  return found
}

/**
 * Of the entities that share the far key, the one of the kind the edge names. A source names kinds exactly;
 * of what was asserted the kind may have been a guess.
 */
function farState(versions: readonly StepRow[]): EntityState | undefined {
  const [row] = versions
  const states = versions.flatMap(({ state }) => state ?? [])
  const same = states.find(({ kind }) => kind === row?.farKind)
  return same ?? (row?.origin === 'snapshot' ? undefined : states[0])
}

function addFact(
  { findings, stats }: Progress,
  row: StepRow,
  { near, far }: { near: FoundEntity; far: FoundEntity },
): void {
  const id = `${row.namespaceId}:${row.edge}`
  if (findings.facts.has(id)) return
  const [subject, object] = row.direction === 'out' ? [near, far] : [far, near]
  findings.facts.set(id, {
    row,
    namespace: near.namespace,
    subject: subject.state,
    object: object.state,
  })
  stats.facts += 1
}
