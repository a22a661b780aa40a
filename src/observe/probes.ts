import type { Hono } from 'hono'
import type { Health } from './health.ts'

export interface Probes {
  health: () => Promise<Health>
  /** The metrics in the text format of Prometheus, as they are now. */
  exposition: () => Promise<{ text: string; contentType: string }>
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
