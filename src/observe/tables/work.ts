import type { MetricRow } from './row.ts'

/** Claims, sessions, runs, and the jobs of the worker. */
export const WORK = {
  claimsGranted: {
    name: 'claims_granted_total',
    type: 'counter',
    labels: ['kind'],
    en: 'Claims granted: `free`, or `takeover` of a task whose lease had ended',
    ru: 'Выданные claims: `free` или `takeover` — задача с истёкшей арендой',
    alert:
      'sum(rate(claims_granted_total{kind="takeover"}[15m])) / sum(rate(claims_granted_total[15m])) > 0.2',
  },
  claimsRefused: {
    name: 'claims_refused_total',
    type: 'counter',
    labels: ['reason'],
    en: 'Claims refused, by error code; `task_already_claimed` is what racing agents get',
    ru: 'Отказы в claim по кодам ошибок; `task_already_claimed` получают соперники',
    alert: 'sum(rate(claims_refused_total{reason="not_eligible"}[15m])) > 1',
  },
  claimsEnded: {
    name: 'claims_ended_total',
    type: 'counter',
    labels: ['how'],
    en: 'Claims that ended: `released` by their holder, `expired` with their lease',
    ru: 'Завершённые claims: `released` держателем, `expired` вместе с арендой',
    alert: 'sum(rate(claims_ended_total{how="expired"}[15m])) > 0.1',
  },
  claimsLive: {
    name: 'claims_live',
    type: 'gauge',
    labels: [],
    read: true,
    en: 'Claims whose lease is not over, in the whole database',
    ru: 'Claims с действующей арендой, во всей базе',
    alert: 'max(claims_live) == 0',
  },
  sessionsLive: {
    name: 'sessions_live',
    type: 'gauge',
    labels: [],
    read: true,
    en: 'Sessions whose lease is not over, in the whole database',
    ru: 'Сессии с действующей арендой, во всей базе',
    alert: 'max(sessions_live) < 0.5 * max(sessions_live offset 15m)',
  },
  runsStarted: {
    name: 'runs_started_total',
    type: 'counter',
    labels: [],
    en: 'Runs started',
    ru: 'Начатые прогоны',
    alert: 'sum(rate(runs_started_total[30m])) == 0',
  },
  runsEnded: {
    name: 'runs_ended_total',
    type: 'counter',
    labels: ['outcome'],
    en: 'Runs that ended or paused: `succeeded`, `failed` (also with their lease), `cancelled`, `suspended`',
    ru: 'Завершённые или приостановленные прогоны: `succeeded`, `failed` (и вместе с арендой), `cancelled`, `suspended`',
    alert:
      'sum(rate(runs_ended_total{outcome="failed"}[30m])) / sum(rate(runs_ended_total[30m])) > 0.3',
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
