import type { VARIABLES } from '../../src/config.ts'

/** What each variable means, in Russian; a missing one does not compile. */
export const RUSSIAN_MEANINGS: Readonly<Record<keyof typeof VARIABLES, string>> = {
  STRATA_DATA: 'Папка данных: база и ключи',
  CP_HOST: 'Адрес, на котором слушает control plane',
  CP_PORT: 'Порт control plane; 0 выбирает свободный',
  CP_DATABASE_URL:
    'PostgreSQL 15 или новее для control plane; если не задан, роль all запускает собственный',
  CP_DATABASE_POOL: 'Число соединений с базой у одного процесса control plane',
  CP_BOOTSTRAP_TOKEN: 'Включает POST /api/v1/bootstrap, один раз',
  CP_LOG_LEVEL: 'Наименее важный уровень, который попадает в журнал работы',
  CP_LOG_FORMAT: 'json: по объекту в строке; pretty: для людей; auto: pretty на терминале',
  CP_LEGACY_API_KEYS_ENABLED: 'Принимать локальные ключи (cp_...)',
  CP_BREAK_GLASS_ENABLED:
    'Принимать ключи, выпущенные на сервере из командной строки для чрезвычайного случая (cp_bg...)',
  CP_BREAK_GLASS_MAX_TTL_SECONDS: 'Наибольший срок такого ключа',
  CP_IAM_ENABLED: 'Принимать access tokens издателя OpenID Connect',
  CP_IAM_ISSUER: 'Издатель, точно как в его токенах',
  CP_IAM_JWKS_URL: 'Его ключи; если не задано, адрес берётся из его discovery document',
  CP_IAM_AUDIENCE: 'Audience, для которой выдан токен',
  CP_IAM_LEEWAY_SECONDS: 'На сколько могут расходиться часы издателя',
  CP_IAM_BINDING_CACHE_SECONDS: 'Сколько времени привязка действует без новой проверки',
  CP_IAM_BINDING_STALE_SECONDS: 'Сколько времени она действует, пока база не отвечает',
  CP_AUTHZ_MODE:
    'Кто решает для access tokens: привязка (local), привязка, а точка решений спрашивается рядом (shadow), точка решений (policy)',
  CP_POLICY_BASE_URL: 'Адрес точки решений (AuthZEN Authorization API 1.0)',
  CP_POLICY_API_KEY: 'Ключ (Bearer) точки решений',
  CP_POLICY_TIMEOUT_SECONDS: 'Предел времени одного вопроса к точке решений',
  CP_POLICY_CACHE_SECONDS: 'Сколько хранится решение',
  CP_POLICY_FOLDER: 'Папка с файлами *.cedar и entities.json для роли policy',
  CP_POLICY_HOST: 'Адрес, на котором слушает роль policy',
  CP_POLICY_PORT: 'Порт роли policy; 0 выбирает свободный',
  CP_METRICS_PORT:
    'Порт только для health и метрик, на CP_HOST; 0 выбирает свободный; не задан — нет такого',
  CP_MAX_BODY_BYTES: 'Наибольшее тело запроса',
  CP_KNOWLEDGE_SNAPSHOT_MAX_BODY_BYTES: 'Наибольшее тело снимка знаний и документа',
  CP_SESSION_TTL_SECONDS: 'Срок аренды сессии, если она не просит другого',
  CP_CLAIM_TTL_SECONDS: 'Срок аренды claim, если он не просит другого',
  CP_WORKER_POLL_SECONDS: 'Пауза бездействующего worker между проверками',
  CP_WS_POLL_INTERVAL_SECONDS:
    'За сколько поток событий самое позднее замечает то, о чём не пришёл сигнал',
  CP_STREAM_BEAT_SECONDS:
    'Самое долгое молчание потока; так же часто он проверяет, можно ли ещё читать его читателю',
  CP_STREAM_STALL_SECONDS:
    'Читатель потока, который столько времени ничего не забирает, отключается',
  CP_STREAMS_PER_PRINCIPAL: 'Потоков одного вызывающего у одного процесса',
  CP_STREAMS_PER_PROCESS: 'Потоков у одного процесса',
  CP_JOURNAL_RETENTION_MIN_AGE_SECONDS:
    'События моложе этого возраста не архивируются и не удаляются',
  CP_JOURNAL_RETENTION_INTERVAL_SECONDS:
    'Пауза между архивированиями старых событий в роли worker; не задано: не архивирует',
  CP_JOURNAL_PRUNE_AFTER_SECONDS:
    'Возраст, с которого worker удаляет события из архива навсегда; не задано: никогда',
  CP_CONTEXT_PROVIDER:
    'none: без памяти; http: сервис памяти. Не задано: http в роли all, none в остальных',
  CP_CONTEXT_BASE_URL:
    'Адрес сервиса памяти (http://localhost:8077; в роли all собственный, внутри процесса)',
  CP_CONTEXT_API_KEY: 'Статический ключ для сервиса памяти',
  CP_CONTEXT_NAMESPACE_PREFIX: 'Префикс каждого namespace в памяти',
  CP_CONTEXT_TIMEOUT_SECONDS: 'Предел времени для памяти в POST /context',
  CP_CONTEXT_INGEST_TIMEOUT_SECONDS: 'Предел времени одной доставки адаптера',
  CP_CONTEXT_RECONCILE_TIMEOUT_SECONDS: 'Предел времени вызова /knowledge/*',
  CP_CONTEXT_MAX_TOKENS_LIMIT: 'Наибольший бюджет пакета памяти, в токенах',
  CP_CONTEXT_DEFAULT_MAX_TOKENS: 'Бюджет пакета памяти, если в запросе его нет',
  CP_CONTEXT_BATCH_SIZE: 'Прежнее имя CP_CONTEXT_TENANT_BATCH_SIZE',
  CP_CONTEXT_TENANT_BATCH_SIZE: 'Сколько событий одного tenant доставляется за один ход (100)',
  CP_CONTEXT_MAX_TENANTS_PER_CYCLE: 'Сколько tenant обслуживается за один цикл',
  CP_CONTEXT_ADAPTER_CONCURRENCY: 'Сколько tenant доставляется одновременно',
  CP_CONTEXT_POLL_INTERVAL_SECONDS: 'Пауза адаптера, когда доставлять нечего',
  CP_CONTEXT_RETRY_BACKOFF_BASE_SECONDS: 'Первая пауза после неудачной доставки',
  CP_CONTEXT_RETRY_BACKOFF_MAX_SECONDS: 'Наибольшая пауза после неудач',
  CB_SERVER_HOST: 'Адрес, на котором слушает сервис памяти',
  CB_SERVER_PORT: 'Порт сервиса памяти; 0 выбирает свободный',
  CB_DATABASE_URL:
    'PostgreSQL 15 или новее для памяти; если не задан, роль all запускает собственный',
  CB_DATABASE_POOL: 'Число соединений с базой у одного процесса памяти',
  CB_SERVER_API_KEY: 'Статический ключ с полным доступом к памяти',
  CB_API_KEYS: 'Список JSON дополнительных ключей с правами по префиксам',
  CB_IAM_ENABLED: 'Принимать access tokens издателя OpenID Connect',
  CB_IAM_ISSUER: 'Издатель, точно как в его токенах',
  CB_IAM_JWKS_URL: 'Его ключи; если не задано, адрес берётся из его discovery document',
  CB_IAM_AUDIENCE: 'Audience, для которой выдан токен',
  CB_IAM_LEEWAY_SECONDS: 'На сколько могут расходиться часы издателя',
  CB_DEFAULT_NAMESPACE: 'Namespace запроса, который не назвал своего',
  CB_OBSERVATIONS_MAX_BATCH: 'Сколько наблюдений в одном пакете',
  CB_RECONCILE_MAX_ITEMS: 'Сколько сущностей и связей в одном снимке',
  CB_RECONCILE_CHANGES_LIMIT: 'Сколько изменений называет ответ о сверке',
  CB_INDEX_MEMORY_MB:
    'Память под поисковые индексы одного процесса; namespace сверх неё ищется в базе',
  CB_CONTEXT_DEFAULT_MAX_TOKENS: 'Бюджет пакета, если в запросе его нет',
}
