import type { z } from 'zod'
import type { BatchResult, Recorded, StreamPosition } from '#contract/memory.ts'
import type { Database, Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import type { Writer } from './access/caller.ts'
import { cutText } from './documents/cut-text.ts'
import { mentions, project } from './graph/project.ts'
import type { Evidence, Projection } from './graph/project.ts'
import type { Catalog } from './packs/catalog.ts'
import { FORBIDDEN, prepareObservation } from './prepare-observation.ts'
import type { Prepared } from './prepare-observation.ts'
import { storeTexts } from './store/write-chunks.ts'
import { insertObservations, selectKnown } from './store/observation.sql.ts'
import type { IndexedObservation, KnownObservation } from './store/observation.sql.ts'
import { upsertStream } from './store/stream.sql.ts'
import { namespaceId, writeNamespace } from './store/write.ts'
import type { Namespace } from './store/write.ts'
import { readGraph, writeGraph } from './store/write-graph.ts'
import { supersedeObservations } from './supersede.ts'
import { isVisible } from './visibility.ts'

export interface RecordInput {
  namespace: string
  observations: readonly unknown[]
  writer: Writer
  /** What the packs of the namespace declare. */
  catalog: Catalog
  position?: z.output<typeof StreamPosition> | undefined
}

type Recording = Pick<RecordInput, 'writer' | 'catalog'>

/**
 * Records observations and joins their assertions to the graph, in one transaction with a bounded
 * number of statements. Each observation is accepted or refused alone; one that is known answers
 * `duplicate` with its status and is not used again. The stream's position is kept when nothing was
 * refused: what was refused will come again.
 */
export async function recordObservations(db: Database, input: RecordInput): Promise<BatchResult[]> {
  const { namespace, writer, observations } = input
  const target = { namespace, writer, namespaceId: await namespaceId(db, namespace) }
  const judged = observations.map((given, index) => prepareObservation(given, index, target))
  const ready = judged.filter((one) => 'row' in one)
  const stream = streamOf(input, ready)
  if (ready.length === 0 && !stream) return judged.filter((one) => 'error' in one)
  const results = await writeNamespace(db, namespace, async (sql, ns) => {
    const recorded = await recordReady(sql, ns, ready, input)
    const isWhole = recorded.every((one) => !('error' in one)) && ready.length === judged.length
    if (stream && isWhole) {
      const received = recorded.filter((one) => 'duplicate' in one && !one.duplicate).length
      await upsertStream(sql, ns.id, { ...stream, received })
    }
    return recorded
  })
  return [...results, ...judged.filter((one) => 'error' in one)].toSorted(
    (a, b) => a.index - b.index,
  )
}

async function recordReady(
  sql: Sql,
  namespace: Namespace,
  ready: readonly Prepared[],
  by: Recording,
): Promise<BatchResult[]> {
  const ids = ready.map(({ row }) => row.observationId)
  const known = new Map(
    (ids.length === 0 ? [] : await selectKnown(sql, namespace.id, ids)).map((one) => [
      one.observationId,
      one,
    ]),
  )
  const fresh: Prepared[] = []
  const first = new Map<string, Prepared>()
  for (const one of ready) {
    const { observationId } = one.row
    if (known.has(observationId) || first.has(observationId)) continue
    first.set(observationId, one)
    fresh.push(one)
  }
  const stored = new Map(
    (await recordFresh(sql, namespace, fresh, by)).map((one) => [one.row.observationId, one]),
  )
  return ready.map((one): BatchResult => {
    const { index } = one
    const before = known.get(one.row.observationId)
    if (before) return duplicateOf(index, before, by.writer)
    const made = stored.get(one.row.observationId)
    if (!made) throw new Error('An observation was neither known nor stored')
    return { index, ...answer(made, first.get(one.row.observationId) !== one) }
  })
}

/** A repeat of something the writer may not see is refused without a word about it. */
function duplicateOf(index: number, known: KnownObservation, { audience }: Writer): BatchResult {
  if (!isVisible(known.scopes, audience)) return { index, error: FORBIDDEN }
  return { index, observation_id: known.observationId, duplicate: true, status: known.status }
}

interface Stored {
  row: IndexedObservation
  projection: Projection
}

function answer({ row, projection }: Stored, duplicate: boolean): Recorded {
  return {
    observation_id: row.observationId,
    duplicate,
    status: row.status,
    ...(row.statusDetail !== null && { status_detail: row.statusDetail }),
    ...(projection.warnings.length > 0 && { warnings: projection.warnings }),
  }
}

async function recordFresh(
  sql: Sql,
  namespace: Namespace,
  fresh: readonly Prepared[],
  { writer, catalog }: Recording,
): Promise<Stored[]> {
  if (fresh.length === 0) return []
  for (const { words } of fresh) namespace.learn(words)
  const evidence = fresh.map((one) => ({ one, evidence: evidenceOf(one, namespace) }))
  const spoken = evidence.map(({ one, evidence: said }) => mentions(said, one.parsed))
  const graph = await readGraph(sql, namespace, {
    keys: new Set(spoken.flatMap(({ keys }) => keys)),
    facts: spoken.flatMap(({ facts }) => facts),
    since: evidence.map(({ evidence: said }) => said.occurredAt).reduce(earlier),
  })
  const stored = evidence.map(({ one, evidence: said }): Stored => {
    const projection = project(graph, said, one.parsed, { writer: writer.audience, catalog })
    const row = {
      ...one.row,
      item: namespace.nextItem(),
      occurredAt: said.occurredAt,
      status: projection.status,
      statusDetail: projection.detail,
    }
    return { row, projection }
  })
  const rows = stored.map(({ row }) => row)
  await insertObservations(sql, namespace, rows)
  for (const { item, termCount } of rows) namespace.changed('observation', item, 1, termCount)
  await writeGraph(sql, graph)
  await storeTexts(
    sql,
    namespace,
    stored.flatMap(({ projection }) => projection.texts.map(cutText)),
  )
  await supersedeObservations(sql, namespace, rows)
  return stored
}

function evidenceOf({ row, assertions }: Prepared, { now }: Namespace): Evidence {
  const { observationId, occurredAt, scopes } = row
  return { observationId, occurredAt: occurredAt ?? now, scopes, assertions }
}

function earlier(a: string, b: string): string {
  return a < b ? a : b
}

/** Which stream a position is of: said, or that of the first observation. */
function streamOf({ position, observations }: RecordInput, ready: readonly Prepared[]) {
  if (!position) return undefined
  const system = position.system ?? ready[0]?.row.sourceSystem
  const stream = position.stream ?? ready[0]?.row.sourceStream
  if (system && stream) return { system, stream, e: position.e, t: position.t, s: position.s }
  if (observations.length > 0 && ready.length === 0) return undefined
  throw new AppError('invalid_request', 'Cannot keep the position: its stream is not named', {
    details: {
      errors: [{ loc: 'body.stream_position.stream', message: 'is needed without a source' }],
    },
  })
}
