import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { encodeCursor } from '#events/cursor.ts'
import { listEvents } from '#journal/list-events.ts'
import { effortOf } from '../kit/args.ts'
import type { BenchArgs } from '../kit/args.ts'
import { newFleet } from '../kit/fleet.ts'
import type { Agent } from '../kit/fleet.ts'
import { fillEvents } from '../kit/history.ts'
import type { Report } from '../kit/report.ts'
import { interleave } from '../kit/rounds.ts'
import type { BenchDatabase, BenchServer } from '../kit/server.ts'
import { median, medianRatio, number, quantile, spread, summary } from '../kit/stats.ts'
import type { ApiProcess } from './api.ts'

const LIMIT = 200
/** Places in a journal that pages are read from, evenly spread. */
const PLACES = 50

interface Scene {
  server: BenchServer
  database: BenchDatabase
  api: ApiProcess
}

type Layer = 'command' | 'http'

/** A tenant with a journal of this length, and cursors all over it. */
interface Journal {
  size: number
  agent: Agent
  cursors: string[]
}

/** A page of 200 events from all over journals of different lengths, one reader at a time. */
export async function pages(scene: Scene, report: Report, args: BenchArgs): Promise<void> {
  const { server, database, api } = scene
  const db = database.open(1)
  const journals: Journal[] = []
  for (const size of [args.size / 100, args.size / 10, args.size].map(Math.ceil)) {
    const { agents } = await newFleet(db, 1)
    const [agent] = agents
    if (!agent) throw new Error('no agent')
    await fillEvents(database.admin, agent, size, (made) =>
      report.progress(`${number(made)} of ${number(size)} events`),
    )
    journals.push({ size, agent, cursors: await cursorsOf(db, agent, size) })
  }
  await server.settle()
  const all = new Map<string, number[]>()
  const count = args.quick ? PLACES : 4 * PLACES
  const caseOf = (layer: Layer, journal: Journal) => ({
    name: nameOf(layer, journal),
    async run(round: number) {
      const times = await read(
        layer === 'command' ? byCommand(db) : overHttp(api.url),
        journal,
        count,
      )
      const name = nameOf(layer, journal)
      if (round >= 0) all.set(name, [...(all.get(name) ?? []), ...times])
      return median(times)
    },
  })
  const layers = ['command', 'http'] as const
  const cases = layers.flatMap((layer) => journals.map((journal) => caseOf(layer, journal)))
  const samples = await interleave(cases, effortOf(args, 7))
  report.table({
    title: `Milliseconds of a page of ${LIMIT} events, p50: median (min..max) of the rounds, and p95 of all`,
    columns: ['', 'p50 by the command', 'p95', 'p50 over HTTP', 'p95'],
    rows: journals.map((journal) => [
      `${number(journal.size)} events`,
      ...layers.flatMap((layer) => {
        const name = nameOf(layer, journal)
        return [
          spread(summary(samples.get(name) ?? [])),
          number(quantile(all.get(name) ?? [], 0.95)),
        ]
      }),
    ]),
    notes: [
      'By the command: rows read, decoded and made into wire objects, in a transaction of its own.',
      'Over HTTP: the role api in its own process, from the request until the answer is parsed.',
    ],
  })
  for (const layer of layers) targets(report, layer, journals, samples)
}

function nameOf(layer: Layer, { size }: Journal): string {
  return `${layer} at ${size}`
}

function targets(
  report: Report,
  layer: Layer,
  journals: readonly Journal[],
  samples: ReadonlyMap<string, number[]>,
): void {
  const [short, long] = [journals[0], journals.at(-1)].map(
    (journal) => (journal && samples.get(nameOf(layer, journal))) ?? [],
  )
  const size = number(journals.at(-1)?.size ?? 0)
  report.target({
    name: `p50 of a page at ${size} events, ${layer}`,
    value: median(long ?? []),
    unit: 'ms',
    atMost: layer === 'command' ? 3 : 6,
  })
  report.target({
    name: `the same to that at ${number(journals[0]?.size ?? 0)} events`,
    value: medianRatio(long ?? [], short ?? []),
    unit: 'times',
    atMost: 1.25,
  })
}

/** Reads one page after a cursor; answers how many events it had. */
type ReadPage = (agent: Agent, cursor: string) => Promise<number>

function byCommand(db: Database): ReadPage {
  return async ({ ctx }, after) => {
    const { items } = await transaction(db, 'read only', (sql) =>
      listEvents(sql, ctx, { after, limit: LIMIT }),
    )
    return items.length
  }
}

function overHttp(url: string): ReadPage {
  return async ({ key }, cursor) => {
    const response = await fetch(
      `${url}/api/v1/events?limit=${LIMIT}&after=${encodeURIComponent(cursor)}`,
      { headers: { authorization: `Bearer ${key}` } },
    )
    const body = (await response.json()) as { items?: unknown[] }
    return body.items?.length ?? 0
  }
}

async function read(readPage: ReadPage, journal: Journal, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const cursor = journal.cursors[n % journal.cursors.length] ?? ''
    const start = performance.now()
    const events = await readPage(journal.agent, cursor)
    times.push(performance.now() - start)
    if (events !== LIMIT) throw new Error(`a page of ${events} events`)
  }
  return times
}

/** Cursors with a whole page behind each, from the first event to the last that has one. */
async function cursorsOf(db: Database, { ctx }: Agent, size: number): Promise<string[]> {
  const rows = await db<{ journalEpoch: number; txId: string; sequence: string }[]>`
    select journal_epoch, tx_id::text as tx_id, sequence::text as sequence
    from (
      select e.journal_epoch, e.tx_id, e.sequence,
             row_number() over (order by journal_epoch, tx_id, sequence) as place
      from events e
      where e.tenant_id = ${ctx.tenantId}) as placed
    where place <= ${size - LIMIT}
      and place % ${Math.max(1, Math.floor((size - LIMIT) / PLACES))}::int = 0
    limit ${PLACES}`
  if (rows.length === 0) throw new Error('no page in the journal')
  return rows.map(encodeCursor)
}
