interface MetricRow {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** Every value of a label is from a closed list: routes of the contract, codes, names of ours; never ids. */
  labels: readonly string[]
  /** Upper bounds in the metric's unit, of a histogram. */
  buckets?: readonly number[]
  en: string
  ru: string
  /** A PromQL expression that is worth waking somebody for; the numbers are to be fitted. */
  alert: string
}

const REQUEST_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** Every metric of the program: what is exported and the page about it are both made from this. */
export const METRICS = {
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
  contextRequests: {
    name: 'context_requests_total',
    type: 'counter',
    labels: [],
    en: 'Answers of `POST /context`',
    ru: 'Ответы `POST /context`',
    alert: 'rate(context_requests_total[15m]) == 0',
  },
  contextDuration: {
    name: 'context_request_duration_seconds',
    type: 'histogram',
    labels: [],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    en: 'How long they took, with the question to memory',
    ru: 'Сколько они заняли, вместе с вопросом к памяти',
    alert:
      'histogram_quantile(0.95, sum by (le) (rate(context_request_duration_seconds_bucket[10m]))) > 1',
  },
  contextDegraded: {
    name: 'context_degraded_total',
    type: 'counter',
    labels: ['status'],
    en: 'Those that wanted memory and did not get it: `timeout`, `unavailable`',
    ru: 'Ответы, которым нужна была память и не досталась: `timeout`, `unavailable`',
    alert: 'sum(rate(context_degraded_total[5m])) / sum(rate(context_requests_total[5m])) > 0.05',
  },
  contextProviderFailures: {
    name: 'context_provider_failures_total',
    type: 'counter',
    labels: [],
    en: 'Failed calls to memory for them',
    ru: 'Неудачные обращения к памяти ради них',
    alert: 'rate(context_provider_failures_total[5m]) > 0.1',
  },
  authzShadowChecks: {
    name: 'authz_shadow_checks_total',
    type: 'counter',
    labels: [],
    en: 'Decisions compared with those of the decision point in shadow mode',
    ru: 'Решения, сверенные с точкой решений в режиме shadow',
    alert: 'rate(authz_shadow_checks_total[30m]) == 0',
  },
  authzShadowDivergence: {
    name: 'authz_shadow_divergence_total',
    type: 'counter',
    labels: ['policy'],
    en: 'Those where policy mode would decide otherwise: it `allows` or `denies`',
    ru: 'Из них те, где режим policy решил бы иначе: `allows` — пустил бы, `denies` — отказал бы',
    alert: 'sum(increase(authz_shadow_divergence_total[1h])) > 0',
  },
  authzShadowUnavailable: {
    name: 'authz_shadow_unavailable_total',
    type: 'counter',
    labels: [],
    en: 'Comparisons for which the decision point had no answer',
    ru: 'Сверки, на которые точка решений не ответила',
    alert: 'rate(authz_shadow_unavailable_total[5m]) > 0.1',
  },
  authzShadowSkipped: {
    name: 'authz_shadow_skipped_total',
    type: 'counter',
    labels: [],
    en: 'Requests not compared: a local key, no permission asked for, or too many at once',
    ru: 'Запросы без сверки: локальный ключ, право не требуется или сверок сразу слишком много',
    alert: 'rate(authz_shadow_skipped_total[15m]) > 10 * rate(authz_shadow_checks_total[15m])',
  },
  streamsOpen: {
    name: 'event_streams_open',
    type: 'gauge',
    labels: ['transport'],
    en: 'Streams of events that are open at this process: `sse`, `websocket`',
    ru: 'Открытые потоки событий этого процесса: `sse`, `websocket`',
    alert: 'event_streams_open > 900',
  },
  streamsStalled: {
    name: 'event_streams_stalled_total',
    type: 'counter',
    labels: ['transport'],
    en: 'Streams cut because their reader took nothing',
    ru: 'Потоки, отключённые из-за того, что читатель ничего не забирал',
    alert: 'sum(increase(event_streams_stalled_total[15m])) > 10',
  },
  adapterDelivered: {
    name: 'context_adapter_delivered_total',
    type: 'counter',
    labels: [],
    en: 'Observations that memory has confirmed',
    ru: 'Наблюдения, подтверждённые памятью',
    alert: 'rate(context_adapter_delivered_total[30m]) == 0',
  },
  adapterDuplicates: {
    name: 'context_adapter_duplicates_total',
    type: 'counter',
    labels: [],
    en: 'Confirmed ones that memory already had',
    ru: 'Из них уже известные памяти',
    alert: 'rate(context_adapter_duplicates_total[15m]) > 10',
  },
  adapterFailures: {
    name: 'context_adapter_failures_total',
    type: 'counter',
    labels: [],
    en: 'Failed deliveries; the same place is tried again',
    ru: 'Неудачные доставки; то же место пробуется снова',
    alert: 'rate(context_adapter_failures_total[10m]) > 0.1',
  },
  jobRuns: {
    name: 'job_runs_total',
    type: 'counter',
    labels: ['job', 'outcome'],
    en: 'Rounds of the jobs of the worker: `ok`, `failed`; a failed one is tried again',
    ru: 'Проходы заданий worker: `ok`, `failed`; неудачный повторяется',
    alert: 'increase(job_runs_total{outcome="failed"}[15m]) > 3',
  },
  jobDuration: {
    name: 'job_duration_seconds',
    type: 'histogram',
    labels: ['job'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120],
    en: 'How long a round took',
    ru: 'Сколько длился проход',
    alert:
      'histogram_quantile(0.95, sum by (le, job) (rate(job_duration_seconds_bucket[15m]))) > 30',
  },
  jobLastSuccess: {
    name: 'job_last_success_timestamp_seconds',
    type: 'gauge',
    labels: ['job'],
    en: 'When a round last succeeded in this process, in seconds since 1970',
    ru: 'Когда проход в этом процессе удался в последний раз, в секундах с 1970 года',
    alert: 'time() - max by (job) (job_last_success_timestamp_seconds{job="leases"}) > 60',
  },
} as const satisfies Record<string, MetricRow>

export type MetricName = keyof typeof METRICS
