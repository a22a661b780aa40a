import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, grantRights } from '#db/embedded/roles.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import { migrate } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { cpuMeter } from './cpu.ts'
import type { CpuTimes } from './cpu.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations/control-plane')
const TMPFS = 0x01021994

/** A PostgreSQL as the product runs it, with fsync, in a folder of its own that goes when it ends. */
export interface BenchServer extends AsyncDisposable {
  /** A new database of the control plane. */
  controlPlane: (name: string) => Promise<BenchDatabase>
  /** A new empty database whose owner may do anything in it: what a peer gets. */
  empty: (name: string) => Promise<DatabaseAddress>
  /** Brings statistics up to date and removes dead rows everywhere, as the server does by and by. */
  settle: () => Promise<void>
  /** The superuser in no database of ours. */
  admin: Database
  /** CPU seconds of this process and of the whole server so far. */
  cpu: () => CpuTimes
}

export interface BenchDatabase {
  /** As the product is connected, with up to `connections`. Closed with the server. */
  open: (connections: number) => Database
  /** The superuser, for filling tables and looking into them. */
  admin: Database
  address: DatabaseAddress
}

/**
 * The folder is below `BENCH_DIR`, or the system's for temporary files. It has to be on a disk, unless it may be
 * anywhere because nobody is going to quote the figures.
 */
export async function startBenchServer({ anywhere }: { anywhere: boolean }): Promise<BenchServer> {
  const folder = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'strata-bench-'))
  const pools: Database[] = []
  const keep = (db: Database) => {
    pools.push(db)
    return db
  }
  const embedded = await (anywhere ? Promise.resolve() : onDisk(folder))
    .then(() => startEmbedded({ dataFolder: folder, fsync: true, maxConnections: 300 }))
    .catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true })
      throw error
    })
  const stop = async () => {
    await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })))
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
  // Who is told to end leaves no server and no folder behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)))
  }
  const asSuperuser = (database: string) =>
    keep(connect(embedded.address(database, 'superuser'), { ...BENCH, maxConnections: 2 }))
  const server = asSuperuser('postgres')
  const cpu = await cpuMeter(server)
  const admins: Database[] = []
  const make = async (name: string) => {
    await createDatabase(server, name)
    const admin = asSuperuser(name)
    admins.push(admin)
    await grantRights(admin, name)
    return admin
  }
  return {
    async controlPlane(name) {
      const admin = await make(name)
      const owner = connect(embedded.address(name, 'owner'), { ...BENCH, maxConnections: 1 })
      await migrate(owner, MIGRATIONS)
      await owner.end()
      const address = embedded.address(name, 'app')
      const open = (maxConnections: number) => keep(connect(address, { ...BENCH, maxConnections }))
      return { open, admin, address }
    },
    async empty(name) {
      await make(name)
      return embedded.address(name, 'superuser')
    },
    async settle() {
      for (const admin of admins) await admin`vacuum (analyze)`
      await server`checkpoint`
    },
    admin: server,
    cpu,
    [Symbol.asyncDispose]: stop,
  }
}

const BENCH = { appName: 'strata-bench', statementTimeoutMs: 600_000 }

/** What is kept in memory is written at no cost. */
async function onDisk(folder: string): Promise<void> {
  const { type } = await statfs(folder)
  if (type === TMPFS) {
    throw new Error(`Cannot measure in "${folder}", which is in memory: set BENCH_DIR to a disk`)
  }
}
