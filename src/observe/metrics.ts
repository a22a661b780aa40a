import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS } from './metric-table.ts'
import type { MetricName } from './metric-table.ts'

type Table = typeof METRICS
type Labels<N extends MetricName> = Table[N]['labels'][number]
type Kind<N extends MetricName> = {
  counter: Counter<Labels<N>>
  gauge: Gauge<Labels<N>>
  histogram: Histogram<Labels<N>>
}[Table[N]['type']]

/** The metrics of one process by their short names, and the registry that `/metrics` prints. */
export type Metrics = { readonly [N in MetricName]: Kind<N> } & { readonly registry: Registry }

const KINDS = { counter: Counter, gauge: Gauge, histogram: Histogram } as const

/**
 * Makes every metric of the table. Those without labels begin at 0, so that an absence means no process,
 * but for what is read from the database, which is absent until it has been read.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const made = Object.entries(METRICS).map(([short, row]) => {
    const { name, type, labels, en: help } = row
    const buckets = 'buckets' in row && { buckets: [...row.buckets] }
    const settings = { name, help, labelNames: [...labels], registers: [registry], ...buckets }
    return [short, new KINDS[type](settings)]
  })
  const metrics = { ...(Object.fromEntries(made) as { [N in MetricName]: Kind<N> }), registry }
  forgetReadings(metrics)
  return metrics
}

/** Makes what is read from the database absent: nobody knows it any more. */
export function forgetReadings(metrics: Metrics): void {
  for (const [short, row] of Object.entries(METRICS)) {
    if (!('read' in row)) continue
    const gauge = metrics[short as MetricName] as Gauge
    gauge.reset()
    if (row.labels.length === 0) gauge.remove()
  }
}
