import type { MetricRow } from './row.ts'

/** Content of artifacts, and the store that keeps what is large. */
export const CONTENT = {
  artifactBytesStored: {
    name: 'artifact_bytes_stored_total',
    type: 'counter',
    labels: [],
    en: 'Bytes of content that callers published or uploaded',
    ru: 'Байты содержимого, опубликованного или загруженного клиентами',
    alert: 'rate(artifact_bytes_stored_total[15m]) > 5e7',
  },
  artifactBytesServed: {
    name: 'artifact_bytes_served_total',
    type: 'counter',
    labels: [],
    en: 'Bytes of content that were sent to readers',
    ru: 'Байты содержимого, отправленного читателям',
    alert: 'rate(artifact_bytes_served_total[15m]) > 5e8',
  },
  contentStoreFailures: {
    name: 'content_store_failures_total',
    type: 'counter',
    labels: ['operation'],
    en: 'Failures of the store of large content: `put`, `get`, `remove`, `check`',
    ru: 'Сбои хранилища большого содержимого: `put`, `get`, `remove`, `check`',
    alert: 'sum(increase(content_store_failures_total[5m])) > 3',
  },
} as const satisfies Record<string, MetricRow>
