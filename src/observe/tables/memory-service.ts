import type { MetricRow } from './row.ts'

/** What comes into the memory service of this process. */
export const MEMORY_SERVICE = {
  memoryObservations: {
    name: 'memory_observations_total',
    type: 'counter',
    labels: ['outcome'],
    en: 'Observations sent to the memory service: `accepted`, `duplicate`, `refused`',
    ru: 'Наблюдения, присланные сервису памяти: `accepted`, `duplicate`, `refused`',
    alert:
      'sum(rate(memory_observations_total{outcome="refused"}[15m])) / sum(rate(memory_observations_total[15m])) > 0.1',
  },
  memoryAssertionsFailed: {
    name: 'memory_observations_unusable_total',
    type: 'counter',
    labels: [],
    en: 'Accepted ones of which some or all assertions could not be used',
    ru: 'Из принятых те, чьи утверждения, все или часть, не удалось использовать',
    alert: 'rate(memory_observations_unusable_total[15m]) > 0.1',
  },
  memoryStored: {
    name: 'memory_stored_total',
    type: 'counter',
    labels: ['kind', 'outcome'],
    en: 'Documents and snapshots (`document`, `snapshot`) that brought something new or not (`changed`, `unchanged`)',
    ru: 'Документы и снимки (`document`, `snapshot`), которые принесли новое или нет (`changed`, `unchanged`)',
    alert: 'sum(rate(memory_stored_total{kind="snapshot"}[1h])) == 0',
  },
} as const satisfies Record<string, MetricRow>
