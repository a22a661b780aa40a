import type { MetricRow } from './row.ts'

/** Who may do what, as far as another decides about it. */
export const ACCESS = {
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
  policyAnswers: {
    name: 'policy_answers_total',
    type: 'counter',
    labels: ['answer'],
    en: 'Answers of role policy: `permit`, `deny`, `refused` (the key or the question was wrong) or `failed`',
    ru: 'Ответы роли policy: `permit`, `deny`, `refused` (неверны ключ или вопрос) или `failed`',
    alert: 'sum(increase(policy_answers_total{answer=~"refused|failed"}[10m])) > 0',
  },
} as const satisfies Record<string, MetricRow>
