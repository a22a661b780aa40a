import type { Config } from './config.ts'
import { controlPlaneEnvelope, baseApp } from '#http/app.ts'
import type { Log } from '#lib/log.ts'
import { productVersion } from '#lib/version.ts'
import { bindProbes } from '#observe/probes.ts'
import type { Probes } from '#observe/probes.ts'
import { listen } from './listen.ts'
import { otlpUrl, quietly } from './open-tracing.ts'

interface Process {
  role: string
  config: Config
  log: Log
  say: (message: string) => void
}

/**
 * Lets others see the metrics of this process: at a port of their own, when one is set, since most roles have no
 * other and the one of the API may be open to more people than these are for; and at a collector, where one is named.
 */
export async function openMetrics(own: Process, probes: Probes): Promise<AsyncDisposable> {
  const port = await openPort(own, probes)
  const sent = await openExport(own, probes)
  return {
    async [Symbol.asyncDispose]() {
      await sent?.[Symbol.asyncDispose]()
      await port?.[Symbol.asyncDispose]()
    },
  }
}

async function openPort(
  { config, log, say }: Process,
  probes: Probes,
): Promise<AsyncDisposable | undefined> {
  const { CP_HOST: host, CP_METRICS_PORT: port } = config
  if (port === undefined) return undefined
  const app = baseApp(log, controlPlaneEnvelope)
  bindProbes(app, probes)
  const server = await listen(app, { host, port, setting: 'CP_HOST, CP_METRICS_PORT' })
  say(`Health and metrics are at ${server.url}/health/ready and ${server.url}/metrics`)
  return server
}

async function openExport(
  { role, config, log }: Process,
  { readings }: Probes,
): Promise<AsyncDisposable | undefined> {
  const url = otlpUrl(config, 'metrics')
  if (url === undefined) return undefined
  const { createMetricExport } = await import('#observe/otel-metrics.ts')
  return createMetricExport({
    url,
    serviceName: `strata-${role}`,
    version: productVersion(),
    intervalMs: config.OTEL_METRIC_EXPORT_INTERVAL,
    read: readings,
    onProblem: quietly((reason) => log.warn('Metrics cannot be sent', { reason })),
  })
}
