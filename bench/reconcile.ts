// Seconds to reconcile snapshots of one source through the memory service's API, on a database of its own
// with real fsync: all new, the same again, a small and a large difference, and a second source.
//   npm run bench:reconcile             20,000 items, half of them relations
//   npm run bench:reconcile -- 5000
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '#db/embedded/start.ts'
import { migrate } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import { testMemory } from '../test/support/memory.ts'

const [items = 20_000] = process.argv.slice(2).map(Number)
const NAMESPACE = 'bench:reconcile'
const RUNS = 3

interface Answer {
  opened: number
  closed: number
  unchanged: number
}

const folder = await mkdtemp(join(tmpdir(), 'bench-reconcile-'))
try {
  await using server = await startEmbedded({ dataFolder: folder })
  const owner = connect(server.address('memory', 'owner'), { maxConnections: 1, appName: 'bench' })
  await migrate(owner, join(import.meta.dirname, '../migrations/memory'))
  await owner.end()
  const db = connect(server.address('memory', 'app'), { maxConnections: 8, appName: 'bench' })
  const { post } = testMemory(db, { checkReplies: false })
  let day = 0
  const send = async (name: string, source: string, changed: ReadonlySet<number>) => {
    day += 1
    const body = {
      namespace: NAMESPACE,
      source,
      scope: 'acme/app',
      snapshotId: `snapshot-${day}`,
      observedAt: new Date(Date.UTC(2026, 0, day)).toISOString(),
      ...partsOf(changed, day),
    }
    const start = performance.now()
    const { status, body: answer } = await post('/api/memory/reconcile', body)
    const seconds = (performance.now() - start) / 1000
    if (status !== 200) throw new Error(JSON.stringify(answer).slice(0, 500))
    tell(name, seconds, answer as Answer)
  }
  for (let run = 1; run <= RUNS; run += 1) {
    await send(`all new, source ${run}`, `git-${run}`, new Set())
    await send('unchanged', `git-${run}`, new Set())
    await send('1 item in 1000 changed', `git-${run}`, every(1000))
    await send('1 item in 10 changed', `git-${run}`, every(10))
  }
  await db.end()
} finally {
  await rm(folder, { recursive: true, force: true })
}

function tell(name: string, seconds: number, { opened, closed, unchanged }: Answer): void {
  const counts = `opened ${opened}, closed ${closed}, unchanged ${unchanged}`
  process.stdout.write(`${name.padEnd(24)} ${seconds.toFixed(2).padStart(6)} s   ${counts}\n`)
}

function every(step: number): Set<number> {
  return new Set(Array.from({ length: Math.ceil(items / 2 / step) }, (_, n) => n * step))
}

function path(n: number): string {
  return `src/module-${n % 97}/part-${n % 13}/file-${n}.ts`
}

/** Files of a repository, each importing another; those that changed differ in size and in a relation. */
function partsOf(changed: ReadonlySet<number>, day: number) {
  const count = Math.floor(items / 2)
  const key = (n: number) => `file:acme/app:${path(n % count)}`
  const range = Array.from({ length: count }, (_, n) => n)
  return {
    entities: range.map((n) => ({
      kind: 'file',
      key: key(n),
      title: path(n),
      aliases: [path(n)],
      attributes: {
        repo: 'acme/app',
        path: path(n),
        type: 'file',
        size: 100 + n + (changed.has(n) ? day : 0),
        blobSha: (n * 2_654_435_761).toString(16).padStart(40, '0'),
      },
      provenance: { repo: 'acme/app', path: path(n) },
    })),
    relations: range.map((n) => ({
      relation: 'imports',
      from: { kind: 'file', key: key(n) },
      to: { kind: 'file', key: key(n * 7 + 1) },
      attributes: changed.has(n) ? { names: day } : {},
    })),
  }
}
