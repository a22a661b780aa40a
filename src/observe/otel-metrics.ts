// Loaded only where metrics are exported, like otel.ts for traces.
import { ValueType } from '@opentelemetry/api'
import type { Attributes, HrTime } from '@opentelemetry/api'
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http'
import {
  JsonMetricsSerializer,
  MetricsExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import type { DataPoint, Histogram, MetricData } from '@opentelemetry/sdk-metrics'
import { resourceOf } from './otel-resource.ts'
import type { Named } from './otel-resource.ts'
import type { MetricReading } from './probes.ts'

export interface MetricExport extends Named {
  /** Whole address, with `/v1/metrics`. */
  url: string
  intervalMs: number
  /** The metrics of this process as they are now. */
  read: () => Promise<readonly MetricReading[]>
  /** Told why they could not be exported. */
  onProblem: (message: string) => void
}

const FLUSH_MS = 5000

/**
 * Sends the metrics of this process to a collector over OTLP/HTTP, every interval and once more when it is disposed,
 * which takes five seconds at most. They are those of `/metrics`, under the same names; counters count from the
 * start of the process. Headers, time-outs, certificates and the resource are what the standard variables say.
 */
export function createMetricExport(settings: MetricExport): AsyncDisposable {
  const { url, intervalMs, read, onProblem } = settings
  const delegate = createOtlpHttpExportDelegate(
    convertLegacyHttpOptions({ url }, 'METRICS', 'v1/metrics', {
      'Content-Type': 'application/json',
    }),
    JsonMetricsSerializer,
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  )
  const resource = resourceOf(settings)
  const scope = { name: 'strata', version: settings.version }
  const send = async () => {
    try {
      const time = { startTime: hrTime(performance.timeOrigin), endTime: hrTime(Date.now()) }
      const metrics = (await read()).map((reading) => dataOf(reading, time))
      const error = await new Promise<Error | undefined>((resolve) => {
        const sent = { resource, scopeMetrics: [{ scope, metrics }] }
        delegate.export(sent, (result) => resolve(result.error))
      })
      if (error) onProblem(error.message)
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error))
    }
  }
  let sending: Promise<void> | undefined
  const once = () => (sending ??= send().finally(() => (sending = undefined)))
  const timer = setInterval(() => void once(), intervalMs)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      const late = AbortSignal.timeout(FLUSH_MS)
      const over = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()))
      const rest = (async () => {
        await sending
        await once()
        await delegate.shutdown()
      })()
      await Promise.race([rest, over])
    },
  }
}

type Time = Pick<DataPoint<number>, 'startTime' | 'endTime'>

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

/** One metric of Prometheus in the model of OpenTelemetry. Source: OpenTelemetry, "Prometheus and OpenMetrics Compatibility". */
export function dataOf({ name, help, type, values }: MetricReading, time: Time): MetricData {
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === 'histogram') {
    const dataPoints = histogramsOf(values).map((point) => ({ ...point, ...time }))
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ value, attributes: attributesOf(labels), ...time }))
  return type === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** Source: UCUM, as OpenTelemetry asks for it. */
function unitOf(name: string): string {
  const [, unit] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? []
  return unit === 'seconds' ? 's' : unit === 'bytes' ? 'By' : ''
}

type Values = MetricReading['values']

/** Cumulative buckets of each set of labels become counts between bounds, the last one without an upper bound. */
function histogramsOf(values: Values): { attributes: Attributes; value: Histogram }[] {
  const groups = new Map<string, Values[number][]>()
  for (const value of values) {
    const key = JSON.stringify(attributesOf(value.labels))
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return [...groups.values()].map((group) => {
    const buckets = group.filter(({ labels }) => labels['le'] !== undefined)
    const boundaries = buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite)
    const upTo = buckets.map(({ value }) => value)
    const counts = upTo.map((value, index) => value - (upTo[index - 1] ?? 0))
    const valueOf = (end: string) =>
      group.find(({ metricName = '' }) => metricName.endsWith(end))?.value ?? 0
    const [first] = group
    return {
      attributes: attributesOf(first?.labels ?? {}),
      value: { buckets: { boundaries, counts }, sum: valueOf('_sum'), count: valueOf('_count') },
    }
  })
}

function attributesOf(labels: Values[number]['labels']): Attributes {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'))
}
