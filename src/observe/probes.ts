import type { Hono } from 'hono'
import type { Health } from './health.ts'

/** One metric with what it shows now, as the registry gives it. */
export interface MetricReading {
  name: string
  help: string
  /** `counter`, `gauge` or `histogram`; the registry declares a number and gives the word. */
  type: unknown
  values: readonly {
    value: number
    labels: Readonly<Partial<Record<string, string | number>>>
    /** Of a part of a histogram. */
    metricName?: string
  }[]
}

export interface Probes {
  health: () => Promise<Health>
  /** The metrics in the text format of Prometheus, as they are now. */
  exposition: () => Promise<{ text: string; contentType: string }>
  /** The same as data. */
  readings: () => Promise<readonly MetricReading[]>
}

/** Unauthenticated: whether the process lives, whether it can serve and why not, and its metrics. */
export function bindProbes(app: Hono, { health, exposition }: Probes): void {
  app.get('/health/live', (c) => c.json({ status: 'ok' }))
  app.get('/health/ready', async (c) => {
    const { isReady, problems, checks } = await health()
    const status = isReady ? 'ok' : 'unavailable'
    return c.json({ status, problems, checks }, isReady ? 200 : 503)
  })
  app.get('/metrics', async (c) => {
    const { text, contentType } = await exposition()
    return c.body(text, 200, { 'content-type': contentType })
  })
}
