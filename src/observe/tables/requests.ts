import type { MetricRow } from './row.ts'

const REQUEST_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** Requests to the APIs. */
export const REQUESTS = {
  httpDuration: {
    name: 'http_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    en: 'Time to answer a request; route is that of the contract, status 499 a caller that went away',
    ru: 'Время ответа на запрос; route — маршрут контракта, статус 499 — клиент ушёл, не дождавшись',
    alert:
      'sum(rate(http_request_duration_seconds_count{status=~"5.."}[5m])) / sum(rate(http_request_duration_seconds_count[5m])) > 0.01',
  },
  httpInFlight: {
    name: 'http_requests_in_flight',
    type: 'gauge',
    labels: [],
    en: 'Requests being answered right now',
    ru: 'Запросы, на которые прямо сейчас готовится ответ',
    alert: 'http_requests_in_flight > 200',
  },
  httpRefusals: {
    name: 'http_refusals_total',
    type: 'counter',
    labels: ['route', 'code'],
    en: 'Refused requests by error code',
    ru: 'Отказы по кодам ошибок',
    alert: 'sum(rate(http_refusals_total{code="invalid_credentials"}[5m])) > 5',
  },
  idempotencyReplays: {
    name: 'idempotency_replays_total',
    type: 'counter',
    labels: ['route'],
    en: 'Repeated requests that got the answer of the first one by their Idempotency-Key',
    ru: 'Повторы, получившие ответ первого запроса по Idempotency-Key',
    alert: 'sum(rate(idempotency_replays_total[15m])) > 1',
  },
} as const satisfies Record<string, MetricRow>
