import type { TestContext } from 'node:test'
import { campaign } from '#adapter/leader.ts'
import { createMemorySink } from '#adapter/memory-sink.ts'
import { runCycle } from '#adapter/run-adapter.ts'
import type { AdapterDeps } from '#adapter/run-adapter.ts'
import type { ClientOptions } from '#client/client.ts'
import type { MemoryProvider } from '#context/recall.ts'
import { databaseUrl } from '#db/address.ts'
import type { Database } from '#db/sql.ts'
import { CONTEXT_ADAPTER } from '#events/consumers.ts'
import { jsonLog } from '#lib/log.ts'
import { createMemoryApp } from '#memory/app.ts'
import { testClient } from './client.ts'
import { providerAt } from './context.ts'
import { testTenant } from './ctx.ts'
import type { TestTenant } from './ctx.ts'
import { ownDatabase } from './db.ts'
import { MEMORY_SETTINGS } from './memory.ts'
import { recordingProxy } from './recording-proxy.ts'
import type { BeforeRelay, Exchange } from './recording-proxy.ts'
import { waitFor } from './wait.ts'
import { wholeApp } from './whole.ts'

const MEMORY_KEY = 'key-of-the-memory-of-this-test'

/** The whole product in this process, over two databases of its own. */
export interface Whole {
  db: Database
  memoryDb: Database
  /** Everything that the control plane and the adapter sent to memory, and what it answered. */
  exchanges: readonly Exchange[]
  clientOf: (key: string) => ClientOptions
  tenant: () => Promise<TestTenant & { client: ClientOptions }>
  /** Lets the adapter work until memory has been told everything that is in the journal. */
  deliver: () => Promise<void>
  /** Settings of an adapter of its own process between the same two. */
  adapterSettings: Readonly<Record<string, string>>
  /** The same control plane with another memory, or without. */
  withMemory: (changes: Partial<MemoryProvider> | null) => (key: string) => ClientOptions
}

/** Control plane, adapter and memory as production composes them; only the processes are missing. */
export async function wholeStrata(t: TestContext, beforeRelay?: BeforeRelay): Promise<Whole> {
  const own = await ownDatabase(t, 'control-plane', 'app')
  const memoryDb = await ownDatabase(t, 'memory', 'app').then(({ db }) => db)
  const settings = { ...MEMORY_SETTINGS, serverApiKey: MEMORY_KEY }
  const memoryApp = createMemoryApp({ db: memoryDb, log: LOG, settings })
  const proxy = await recordingProxy(
    t,
    async (input, init) => await memoryApp.request(input, init),
    beforeRelay,
  )
  const provider = providerAt(proxy.url, { apiKey: MEMORY_KEY, timeoutSeconds: 20 })
  const withMemory = (changes: Partial<MemoryProvider> | null) => {
    const app = wholeApp(own.db, changes && { ...provider, ...changes })
    return (key: string) => testClient(app, key)
  }
  const clientOf = withMemory({})
  const adapter: AdapterDeps = {
    db: own.db,
    address: own.address('app'),
    sink: createMemorySink({
      memory: provider,
      namespacePrefix: provider.namespacePrefix,
      timeoutSeconds: 20,
      traceRunId: 'adapter_of_the_tests',
    }),
    settings: SETTINGS,
    log: LOG,
    onTurn: () => {},
  }
  return {
    db: own.db,
    memoryDb,
    exchanges: proxy.exchanges,
    clientOf,
    tenant: async () => {
      const tenant = await testTenant(own.db)
      return { ...tenant, client: clientOf(tenant.key) }
    },
    deliver: () => deliverAll(adapter),
    adapterSettings: {
      CP_DATABASE_URL: databaseUrl(own.address('app')),
      CP_CONTEXT_PROVIDER: 'http',
      CP_CONTEXT_BASE_URL: proxy.url,
      CP_CONTEXT_API_KEY: MEMORY_KEY,
    },
    withMemory,
  }
}

const LOG = jsonLog(
  (line) => process.stderr.write(line),
  () => new Date(),
  'error',
)

const SETTINGS = {
  tenantBatchSize: 100,
  maxTenantsPerCycle: 20,
  concurrency: 4,
  pollSeconds: 1,
  backoffBaseSeconds: 1,
  backoffMaxSeconds: 60,
}

const DELIVERY_SECONDS = 30

async function deliverAll(deps: AdapterDeps): Promise<void> {
  const until = AbortSignal.timeout(DELIVERY_SECONDS * 1000)
  const { address, log } = deps
  await using leader = await campaign({ address, name: CONTEXT_ADAPTER, shard: 0, shards: 1, log })
  if (!leader) throw new Error('Cannot deliver: another adapter leads')
  await waitFor(async () => {
    await runCycle(deps, leader, until)
    return !(await isBehind(deps.db))
  }, DELIVERY_SECONDS)
}

/** Also true for events that an open transaction elsewhere on the server still holds back. */
export async function isBehind(db: Database): Promise<boolean> {
  const [row] = await db<{ behind: boolean }[]>`
    select exists (
      select 1
      from events e
      left join event_consumer_cursors c on c.tenant_id = e.tenant_id and c.name = ${CONTEXT_ADAPTER}
      where c.tenant_id is null
         or (e.journal_epoch, e.tx_id, e.sequence) > (c.journal_epoch, c.tx_id, c.sequence)) as behind`
  return row?.behind === true
}
