import type { TypedBody, TypedPack } from '#contract/memory-typed.ts'
import type { Sql } from '#db/sql.ts'
import { plainInstant, toUtcMicros } from '#lib/instant.ts'
import { redacted } from '../redacted.ts'
import { shown } from '../shown.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { newTraceId } from '../compile/trace-queue.ts'
import type { TraceQueue } from '../compile/trace-queue.ts'
import type { Indexes } from '../index/indexes.ts'
import type { Meaning } from '../vectors/meaning.ts'
import { readScopeOf } from '../recall/read-scope.ts'
import type { ReadScope } from '../recall/read-scope.ts'
import { testsOf } from '../where.ts'
import { reportOf, resolveAnchors } from './anchors.ts'
import type { Resolved } from './anchors.ts'
import { resolveByMeaning } from './by-meaning.ts'
import type { Findings, FoundEntity } from './found.ts'
import { takeStep } from './take-step.ts'
import type { StepStats } from './take-step.ts'
import { partsOf } from './typed-pack.ts'

export interface TraverseDeps {
  defaultNamespace: string
  traces: TraceQueue
  indexes: Indexes
  meaning: Meaning | undefined
}

/** Meaning is read off words and spelling as long as no vectors are there. */
const BY_WORDS = 'semantic search is not trained yet'

/**
 * Follows typed relations from what the anchors stand for, step by step, at one moment of the world and of
 * our knowledge. The number of statements depends on the steps and their depth, not on anchors,
 * namespaces or what is found (but for anchors sought by meaning). What the reader may not see is as if
 * it were not there.
 */
export async function traverse(
  sql: Sql,
  ctx: MemoryCtx,
  body: TypedBody,
  deps: TraverseDeps,
): Promise<TypedPack> {
  const started = performance.now()
  const now = new Date()
  const plan = planOf(body)
  const scope = await readScopeOf(sql, ctx, body, deps.defaultNamespace)
  const { namespaces, reader } = scope
  const asked = { namespaces, reader, anchors: body.anchors, tests: plan.tests }
  const named = await resolveAnchors(sql, asked)
  const anchors = body.allow_semantic
    ? await withMeaning(sql, named, { ...deps, ...asked, k: body.semantic_k, now })
    : named
  const { findings, origins } = startingAt(anchors)
  const stats: StepStats[] = []
  let previous = origins
  for (const { step, tests } of plan.steps) {
    ctx.signal.throwIfAborted()
    const starts = step.from === 'anchors' ? origins : previous
    const taken = await takeStep(sql, findings, { reader, step, tests, starts })
    previous = taken.reached
    stats.push(taken.stats)
  }
  const byWords = deps.meaning === undefined
  const pack = packOf({ scope, anchors, findings, steps: stats, byWords, now })
  pack.stats.latency_ms = Number((performance.now() - started).toFixed(2))
  const trace = traceOf(body, pack, now)
  const { entities, facts } = pack.used
  const items = [...entities.map(({ key }) => `node:${key}`), ...facts]
  const { names } = scope
  const { audience } = reader
  deps.traces.push({ traceId: pack.trace_id, names, namespaces, audience, trace, items })
  return pack
}

/** The conditions of a request, read before anything is asked of the database. */
function planOf({ where, traverse: steps }: TypedBody) {
  return {
    tests: testsOf(where),
    steps: steps.map((step, index) => ({
      step,
      tests: testsOf(step.where, `traverse.${index}.where`),
    })),
  }
}

function startingAt(anchors: readonly Resolved[]): { findings: Findings; origins: FoundEntity[] } {
  const entities = new Map<string, FoundEntity>()
  for (const { matches } of anchors) {
    for (const { entity } of matches) {
      if (!entities.has(entity.id)) entities.set(entity.id, entity)
    }
  }
  return { findings: { entities, facts: new Map() }, origins: [...entities.values()] }
}

async function withMeaning(
  sql: Sql,
  named: readonly Resolved[],
  query: Parameters<typeof resolveByMeaning>[2],
): Promise<Resolved[]> {
  const open = named.filter(({ method }) => method === null)
  const meant = await resolveByMeaning(
    sql,
    open.map(({ anchor }) => anchor),
    query,
  )
  return named.map((one) => {
    const other = meant[open.indexOf(one)]
    return other ? { ...other, filtered: new Set([...one.filtered, ...other.filtered]) } : one
  })
}

interface Gathered {
  scope: ReadScope
  anchors: readonly Resolved[]
  findings: Findings
  steps: StepStats[]
  /** Whether nothing but words tells what is meant. */
  byWords: boolean
  now: Date
}

function packOf({ scope, anchors, findings, steps, byWords, now }: Gathered): TypedPack {
  const { asOf, knownAt } = scope.reader
  const reports = redacted(shown(anchors.map(reportOf)))
  return {
    as_of: asOf === null ? now.toISOString() : plainInstant(toUtcMicros(asOf) ?? asOf),
    known_at: knownAt === null ? null : plainInstant(knownAt),
    namespaces: [...scope.names],
    anchors: reports,
    unresolved: reports.filter(({ matchedBy }) => matchedBy === null).map(({ input }) => input),
    ...partsOf(findings),
    warnings: byWords && anchors.some(({ method }) => method === 'semantic') ? [BY_WORDS] : [],
    trace_id: newTraceId(),
    stats: { entities: findings.entities.size, facts: findings.facts.size, steps, latency_ms: 0 },
  }
}

/** No text of an entity: a trace outlives it. */
function traceOf(body: TypedBody, pack: TypedPack, at: Date): Record<string, unknown> {
  return {
    trace_id: pack.trace_id,
    created_at: at.toISOString(),
    namespaces: pack.namespaces,
    request: redacted(shown(body)),
    anchors: pack.anchors,
    selected: pack.used.entities,
    facts: pack.used.facts,
    warnings: pack.warnings,
    stats: pack.stats,
  }
}
