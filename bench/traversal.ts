// Latency of typed traversal for a coding task: 4 anchors and 3 steps among 7,950 entities and 12,530
// relations of a repository, beside 200,000 nodes of others. A memory process of its own over HTTP.
//   npm run bench:traversal
//   npm run bench:traversal -- 20000        with fewer nodes of others
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl } from '#db/address.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import { migrate } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { startRole } from '../demo/strata.ts'

const [foreign = 200_000] = process.argv.slice(2).map(Number)
const NAMESPACE = 'bench:repository'
const KEY = 'a-key-of-the-bench-alone'
const FILES = 1500
const SYMBOLS = 5000
const TESTS = 1000
const ENDPOINTS = 430
const SERVICES = 20
const ROUNDS = 400
const CALLERS = 8

const folder = await mkdtemp(join(tmpdir(), 'bench-traversal-'))
try {
  await using server = await startEmbedded({ dataFolder: folder })
  const db = connect(server.address('memory', 'owner'), { maxConnections: 2, appName: 'bench' })
  await migrate(db, join(import.meta.dirname, '../migrations/memory'))
  const memory = await startRole('memory', {
    CB_DATABASE_URL: databaseUrl(server.address('memory', 'app')),
    CB_SERVER_PORT: '0',
    CB_SERVER_API_KEY: KEY,
  })
  try {
    const post = poster(memory.url)
    const { entities, relations } = repository()
    await post('/api/memory/reconcile', snapshot('files', { entities, relations: [] }))
    await post('/api/memory/reconcile', snapshot('calls', { entities: [], relations }))
    await fillForeign(db, foreign)
    await db`vacuum analyze`
    await measure(post)
  } finally {
    await memory.stop()
    await db.end()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

type Post = (path: string, body: object) => Promise<Record<string, unknown>>

function poster(url: string): Post {
  return async (path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
}

/** The snapshot of a repository: 7,950 entities and 12,530 relations. */
function repository() {
  const entities = [
    ...many(FILES, file),
    ...many(SYMBOLS, symbol),
    ...many(TESTS, test),
    ...many(ENDPOINTS, endpoint),
    ...many(SERVICES, service),
  ].map((one, n) => ({
    ...one,
    title: `Thing ${n}`,
    attributes: { language: 'typescript', lines: n % 900, owner: `team-${n % 12}` },
    aliases: n % 10 === 0 ? [`alias-${n}`] : [],
    source_path: `src/${n}.ts`,
  }))
  const relations = [
    ...many(SYMBOLS, (n) => ({ relation: 'contains', from: file(n % FILES), to: symbol(n) })),
    ...many(5000, (n) => ({ relation: 'calls', from: symbol(n), to: symbol((n * 7) % 400) })),
    ...many(2000, (n) => ({
      relation: 'tests',
      from: test(n % TESTS),
      to: symbol((n * 3) % SYMBOLS),
    })),
    ...many(ENDPOINTS, (n) => ({ relation: 'serves', from: symbol(n), to: endpoint(n) })),
    ...many(100, (n) => ({ relation: 'owns', from: service(n % SERVICES), to: file(n) })),
  ]
  process.stdout.write(`${entities.length} entities, ${relations.length} relations\n`)
  return { entities, relations }
}

function file(n: number) {
  return { kind: 'file', key: `file:src/part${n % 40}/module_${n}.ts` }
}

function symbol(n: number) {
  return { kind: 'symbol', key: `symbol:part${n % 40}.doThing${n}` }
}

function test(n: number) {
  return { kind: 'test', key: `test:part${n % 40}/case_${n}` }
}

function endpoint(n: number) {
  return { kind: 'endpoint', key: `GET /part${n % 40}/{id}/things${n}` }
}

function service(n: number) {
  return { kind: 'service', key: `service:part${n}` }
}

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** A snapshot takes 20,000 items: entities and relations come as two. */
function snapshot(scope: string, items: object) {
  const observed = { observed_at: '2026-01-01T00:00:00Z', snapshot_id: '1', allow_empty: true }
  return { namespace: NAMESPACE, source: 'git', scope, ...observed, ...items }
}

async function fillForeign(db: Database, nodes: number): Promise<void> {
  const perNamespace = 10_000
  for (let n = 0; n < nodes / perNamespace; n++) {
    await db`
      with space as (
        insert into namespaces (namespace, last_item) values (${`foreign:${n}`}, ${perNamespace})
        returning id
      ), node as (
        insert into nodes (namespace_id, item, key, kind, title, aliases, valid_from)
        select space.id, n, 'file:src/part' || n % 40 || '/module_' || n || '.ts', 'file', 'Thing',
               case when n % 10 = 0 then array['alias-' || n] else '{}' end, '2026-01-01Z'
        from space, generate_series(1, ${perNamespace}::int) as n
      )
      insert into edges
        (namespace_id, item, subject, subject_kind, predicate, object, object_kind, observed_at)
      select space.id, ${perNamespace} + n, 'file:src/part' || n % 40 || '/module_' || n || '.ts',
             'file', 'CONTAINS', 'symbol:x' || n, 'symbol', '2026-01-01Z'
      from space, generate_series(1, ${perNamespace}::int) as n`
  }
}

/** A task names a file, a symbol by its end, an endpoint and an alias. */
function task(n: number) {
  const at = (n * 37) % 400
  return {
    scope: { namespace: NAMESPACE },
    anchors: [
      { kind: 'file', value: `src/part${at % 40}/module_${at}.ts` },
      { value: `doThing${at}` },
      { value: `GET /part${at % 40}/{thingId}/things${at}` },
      { value: `alias-${(at % 70) * 10}` },
    ],
    traverse: [
      { relation: 'contains', limit: 20 },
      { relation: 'calls', direction: 'in', from: 'previous', limit: 20 },
      { relation: 'tests', direction: 'in', from: 'previous', limit: 20 },
    ],
  }
}

async function measure(post: Post): Promise<void> {
  const ask = async (n: number) => {
    const begun = performance.now()
    const pack = await post('/api/memory/context/typed', task(n))
    return { ms: performance.now() - begun, pack }
  }
  let entities = 0
  for (let n = 0; n < 50; n++) {
    const { pack } = await ask(n)
    entities += (pack['stats'] as { entities: number }).entities
  }
  process.stdout.write(`${entities / 50} entities an answer\n`)
  for (const callers of [1, CALLERS]) {
    const times: number[] = []
    let next = 0
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (next < ROUNDS) times.push((await ask(next++)).ms)
      }),
    )
    times.sort((a, b) => a - b)
    const at = (share: number) => (times[Math.floor(share * times.length)] ?? 0).toFixed(1)
    process.stdout.write(`${callers} caller(s): p50 ${at(0.5)} ms, p95 ${at(0.95)} ms\n`)
  }
}
