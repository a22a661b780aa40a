import type { Config } from './config.ts'
import { redactCredentials } from '#lib/redact.ts'
import { NO_TRACING } from '#lib/tracing.ts'
import type { Tracing } from '#lib/tracing.ts'
import { productVersion } from '#lib/version.ts'

/** A collector that is away would fill the log otherwise. */
const QUIET_MS = 60_000
const MAX_CHARS = 500

/**
 * The traces of this process: sent over OTLP/HTTP where the standard variables name a collector, otherwise none,
 * without loading anything. `onProblem` is told at most once a minute that they cannot be sent.
 */
export async function openTracing(
  config: Config,
  role: string,
  onProblem: (message: string) => void,
): Promise<Tracing> {
  const url = otlpUrl(config, 'traces')
  if (url === undefined) return NO_TRACING
  const { createOtelTracing } = await import('#observe/otel.ts')
  return createOtelTracing({
    url,
    serviceName: `strata-${role}`,
    version: productVersion(),
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    delayMs: config.OTEL_BSP_SCHEDULE_DELAY,
    onProblem: quietly(onProblem),
  })
}

/** Tells at most once a minute, shortened and without credentials. */
export function quietly(tell: (message: string) => void): (message: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (message) => {
    if (performance.now() - toldAt < QUIET_MS) return
    toldAt = performance.now()
    tell(redactCredentials(message.slice(0, MAX_CHARS)))
  }
}

/** Source: OpenTelemetry Protocol Exporter, "Endpoint URLs for OTLP/HTTP". */
export function otlpUrl(config: Config, signal: 'traces' | 'metrics'): string | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_SDK_DISABLED: isDisabled } = config
  const [exporter, exact] =
    signal === 'traces'
      ? [config.OTEL_TRACES_EXPORTER, config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT]
      : [config.OTEL_METRICS_EXPORTER, config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT]
  if (isDisabled || exporter === 'none') return undefined
  if (exact !== undefined) return exact
  return base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/${signal}`
}
