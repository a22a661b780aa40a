import type { Hono } from 'hono'
import type { MemoryProvider } from '#context/recall.ts'
import type { Database } from '#db/sql.ts'
import type { ControlPlaneApi } from '#http/bind.ts'
import { createMetrics } from '#observe/metrics.ts'
import { watchRequests } from '#observe/watch-requests.ts'
import { jsonLog } from '#lib/log.ts'
import type { Log } from '#lib/log.ts'
import { createControlPlaneApi } from '#org/routes.ts'
import { blockList } from '#webhooks/networks.ts'
import { DEFAULT_LEASES } from '#work/lease.ts'
import { createControlPlane } from '../../src/app.ts'
import { contextMeter, countEvents, countingClaims } from '../../src/meters.ts'
import { createProbes } from '../../src/probing.ts'
import { testContent } from './content.ts'
import { TEST_BOOTSTRAP_TOKEN, TEST_LIMITS } from './client.ts'
import { testStreams } from './streams.ts'

/** Receivers of the tests listen on this machine. */
const LOOPBACK = { httpHosts: new Set(['127.0.0.1']), networks: blockList(['127.0.0.0/8']) }

const ERRORS_ALONE = jsonLog(
  (line) => process.stderr.write(line),
  () => new Date(),
  'error',
)

interface WholeOptions {
  log?: Log
  streams?: ReturnType<typeof testStreams>
  /** Parts of the pipeline that a test replaces. */
  api?: Partial<ControlPlaneApi>
}

/** The control plane as it is served, with every area, in this process. */
export function wholeApp(
  db: Database,
  provider: MemoryProvider | null,
  { log = ERRORS_ALONE, streams = testStreams(db), api = {} }: WholeOptions = {},
): Hono {
  const metrics = createMetrics()
  const content = testContent()
  const probes = createProbes({ role: 'test', log, metrics, controlPlane: db, memory: provider })
  return createControlPlane({
    db,
    log,
    api: {
      ...createControlPlaneApi({
        db,
        limits: TEST_LIMITS,
        checkReplies: true,
        bootstrapToken: TEST_BOOTSTRAP_TOKEN,
        keys: { localKeys: true, breakGlassSeconds: 14_400 },
      }),
      ...api,
    },
    watch: countingClaims(metrics, watchRequests({ log, metrics })),
    content,
    leases: DEFAULT_LEASES,
    context: { provider, metrics: contextMeter(metrics) },
    journal: { minAgeSeconds: 0, streams },
    webhooks: { allowed: LOOPBACK },
    notify: (_tenantId, types = []) => countEvents(metrics, types),
    probes,
  })
}
