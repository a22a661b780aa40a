import { z } from 'zod'
import {
  count,
  flag,
  httpUrl,
  port,
  seconds,
  secret,
  someFlag,
  someSeconds,
  words,
} from './config-kinds.ts'
import { IDENTITY_VARIABLES } from './identity-variables.ts'
import { MCP_VARIABLES } from './mcp-variables.ts'
import { MEMORY_ACCESS_VARIABLES } from './memory-access-variables.ts'
import { LLM_VARIABLES } from './llm-variables.ts'
import { MODEL_VARIABLES } from './model-variables.ts'
import { OTEL_VARIABLES } from './otel-variables.ts'
import { WEBHOOK_VARIABLES } from './webhook-variables.ts'
import { issuePhrase } from '#lib/issue-phrase.ts'
import { StartError } from '#lib/start-error.ts'

/** Up to ten years. */
const someAge = z.coerce.number().int().min(0).max(315_576_000)
const bytes = (fallback: number) =>
  z.coerce
    .number()
    .int()
    .min(1024)
    .max(2 ** 30)
    .default(fallback)
const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })

/** Each variable with its meaning; the configuration page is generated from this object. */
export const VARIABLES = {
  STRATA_DATA: z
    .string()
    .min(1)
    .default('./.strata')
    .describe('Data folder: the database, the keys and large content'),
  CP_HOST: z.string().default('127.0.0.1').describe('Address the control plane listens on'),
  CP_PORT: port(8000).describe('Port of the control plane; 0 picks a free one'),
  CP_DATABASE_URL: postgresUrl
    .optional()
    .describe('PostgreSQL 15 or later for the control plane; unset, role all starts its own'),
  CP_DATABASE_POOL: count(10, 200).describe('Database connections of one control-plane process'),
  CP_BOOTSTRAP_TOKEN: secret.optional().describe('Enables POST /api/v1/bootstrap, once'),
  CP_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least severe line that is logged'),
  CP_LOG_FORMAT: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('json: one object per line; pretty: for people; auto: pretty on a terminal'),
  ...IDENTITY_VARIABLES,
  CP_METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe('Port for health and metrics alone, on CP_HOST; 0 picks a free one; unset: none'),
  CP_MAX_BODY_BYTES: bytes(1_048_576).describe('Largest request body'),
  CP_KNOWLEDGE_SNAPSHOT_MAX_BODY_BYTES: bytes(8_388_608).describe(
    'Largest body of knowledge snapshots and documents',
  ),
  CP_SESSION_TTL_SECONDS: count(300, 3600).describe('Lease of a session unless it asks otherwise'),
  CP_CLAIM_TTL_SECONDS: count(300, 3600).describe('Lease of a claim unless it asks otherwise'),
  CP_ARTIFACT_FOLDER: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of large content, the same for every process (blobs in STRATA_DATA)'),
  CP_ARTIFACT_MAX_BYTES: bytes(104_857_600).describe('Largest content of an artifact'),
  CP_ARTIFACT_UPLOAD_TTL_SECONDS: z.coerce
    .number()
    .int()
    .min(60)
    .max(2_592_000)
    .default(86_400)
    .describe('How long an upload is kept unless an artifact names it'),
  CP_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,62}$/, 'must be the name of a bucket')
    .optional()
    .describe('Bucket of an S3 service for large content, instead of a folder'),
  CP_S3_ENDPOINT: httpUrl.optional().describe('URL of the service (Amazon S3 in CP_S3_REGION)'),
  CP_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, 'must be a region')
    .default('us-east-1')
    .describe('Region that requests are signed for'),
  CP_S3_ACCESS_KEY_ID: z.string().min(1).max(200).optional().describe('Access key for the bucket'),
  CP_S3_SECRET_ACCESS_KEY: z.string().min(1).max(200).optional().describe('Its secret'),
  CP_S3_SESSION_TOKEN: z
    .string()
    .min(1)
    .max(5000)
    .optional()
    .describe('Session token, for a temporary key'),
  CP_S3_PREFIX: z
    .string()
    .regex(/^([A-Za-z0-9._-]+\/)*$/, 'must be empty or end with /')
    .default('')
    .describe('Stands before every key in the bucket, such as strata/'),
  CP_S3_PATH_STYLE: someFlag
    .optional()
    .describe('Bucket in the path of URLs, not in the host (on with CP_S3_ENDPOINT)'),
  CP_WORKER_POLL_SECONDS: seconds(1).describe('Pause of an idle worker between looks for work'),
  CP_WS_POLL_INTERVAL_SECONDS: seconds(5).describe(
    'Longest time until a stream of events notices what no wake-up told',
  ),
  CP_STREAM_BEAT_SECONDS: z.coerce
    .number()
    .positive()
    .max(60)
    .default(10)
    .describe(
      'Longest silence of a stream; so often it also asks whether its reader may still read',
    ),
  CP_STREAM_STALL_SECONDS: seconds(30).describe(
    'A reader of a stream that takes nothing for so long is cut',
  ),
  CP_STREAMS_PER_PRINCIPAL: count(50).describe('Streams of one caller at one process'),
  CP_STREAMS_PER_PROCESS: count(1000).describe('Streams at one process'),
  CP_JOURNAL_RETENTION_MIN_AGE_SECONDS: someAge
    .default(2_592_000)
    .describe('Events that are younger are neither archived nor removed'),
  CP_JOURNAL_RETENTION_INTERVAL_SECONDS: someSeconds
    .optional()
    .describe('Pause between archivings of old events by the worker; unset: none'),
  CP_JOURNAL_PRUNE_AFTER_SECONDS: someAge
    .optional()
    .describe('Age at which the worker deletes archived events for good; unset: never'),
  CP_CONTEXT_PROVIDER: z
    .enum(['none', 'http'])
    .optional()
    .describe('none: no memory; http: a memory service. Unset: http in role all, none elsewhere'),
  CP_CONTEXT_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of the memory service (http://localhost:8077; role all: its own, in process)',
    ),
  CP_CONTEXT_API_KEY: secret.optional().describe('Static key for the memory service'),
  CP_CONTEXT_AUTH: z
    .enum(['auto', 'api_key', 'iam'])
    .default('auto')
    .describe(
      'How the control plane shows itself to memory: its static key, access tokens of its own, or tokens where CP_IAM_CLIENT_ID is set and memory is elsewhere',
    ),
  CP_CONTEXT_IAM_AUDIENCE: z
    .string()
    .min(1)
    .default('memory-service')
    .describe('Audience of these tokens'),
  CP_CONTEXT_IAM_SCOPES: words
    .default('memory:read memory:write memory:tenants memory:service')
    .describe('Scopes of these tokens; memory:on-behalf comes on top in policy mode'),
  CP_CONTEXT_NAMESPACE_PREFIX: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._:-]{0,99}$/)
    .default('tenant:')
    .describe('Prefix of every namespace in memory'),
  CP_CONTEXT_TIMEOUT_SECONDS: seconds(3).describe('Limit of the memory part of POST /context'),
  CP_CONTEXT_INGEST_TIMEOUT_SECONDS: seconds(15).describe('Limit of one delivery by the adapter'),
  CP_CONTEXT_RECONCILE_TIMEOUT_SECONDS: seconds(60).describe('Limit of a /knowledge/* call'),
  CP_KNOWLEDGE_PACK_ADMINS: words
    .transform((text) => text.split(/[\s,]+/))
    .optional()
    .describe(
      'Who may register packs for everybody: ids of principals, here or at the issuer of tokens',
    ),
  CP_CONTEXT_MAX_TOKENS_LIMIT: count(16_000).describe('Largest budget of a memory pack, in tokens'),
  CP_CONTEXT_DEFAULT_MAX_TOKENS: count(8000).describe('Budget of a memory pack when none is asked'),
  CP_CONTEXT_BATCH_SIZE: count(100, 500)
    .optional()
    .describe('Older name of CP_CONTEXT_TENANT_BATCH_SIZE'),
  CP_CONTEXT_TENANT_BATCH_SIZE: count(100, 500)
    .optional()
    .describe('Events delivered for one tenant in one turn (100)'),
  CP_CONTEXT_MAX_TENANTS_PER_CYCLE: count(20, 1000).describe('Tenants served in one cycle'),
  CP_CONTEXT_ADAPTER_CONCURRENCY: count(4, 64).describe('Tenants delivered at the same time'),
  CP_CONTEXT_POLL_INTERVAL_SECONDS: seconds(1).describe('Pause of the adapter when nothing is due'),
  CP_CONTEXT_RETRY_BACKOFF_BASE_SECONDS: seconds(1).describe('First pause after a failed delivery'),
  CP_CONTEXT_RETRY_BACKOFF_MAX_SECONDS: seconds(60).describe('Longest pause after failures'),
  CB_SERVER_HOST: z.string().default('127.0.0.1').describe('Address the memory service listens on'),
  CB_SERVER_PORT: port(8077).describe('Port of the memory service; 0 picks a free one'),
  CB_DATABASE_URL: postgresUrl
    .optional()
    .describe('PostgreSQL 15 or later for memory; unset, role all starts its own'),
  CB_DATABASE_POOL: count(10, 200).describe('Database connections of one memory process'),
  CB_SERVER_API_KEY: secret.optional().describe('Static key with full access to memory'),
  CB_PII_PROTECTION: flag(false).describe('Mask personal data in every answer of memory'),
  CB_API_KEYS: z.string().optional().describe('JSON list of further keys with prefix grants'),
  CB_IAM_ENABLED: flag(false).describe('Accept access tokens of an OpenID Connect issuer'),
  CB_IAM_ISSUER: httpUrl.optional().describe('The issuer, exactly as in its tokens'),
  CB_IAM_JWKS_URL: httpUrl
    .optional()
    .describe('Its keys; unset, its discovery document says where'),
  CB_IAM_AUDIENCE: z
    .string()
    .min(1)
    .default('memory-service')
    .describe('Audience that a token must be for'),
  CB_IAM_LEEWAY_SECONDS: z.coerce
    .number()
    .min(0)
    .max(300)
    .default(5)
    .describe('How far the clock of the issuer may be off'),
  ...MEMORY_ACCESS_VARIABLES,
  CB_CORE_ONLY: flag(false).describe(
    'Leave reconciling to the platform: service keys, and tokens with memory:service',
  ),
  CB_CORE_IDENTITIES: words
    .optional()
    .describe('The same, and who else may: names of keys, base, default or iam:<type>:<id>'),
  CB_DEFAULT_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._:-]{0,199}$/)
    .default('nexus')
    .describe('Namespace of a request that names none'),
  CB_OBSERVATIONS_MAX_BATCH: count(500, 5000).describe('Observations in one batch'),
  CB_RECONCILE_MAX_ITEMS: count(20_000, 100_000).describe('Entities and relations in one snapshot'),
  CB_RECONCILE_CHANGES_LIMIT: count(1000, 100_000).describe('Changes named in a reconcile answer'),
  CB_INDEX_MEMORY_MB: count(640, 65_536).describe(
    'Memory for search indexes in one process; a namespace beyond it is searched in the database',
  ),
  CB_CACHE_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder where search indexes are kept across restarts, only a cache (role all: cache in STRATA_DATA; else none)',
    ),
  CB_CONTEXT_DEFAULT_MAX_TOKENS: count(8000).describe('Budget of a pack when none is asked'),
  ...LLM_VARIABLES,
  ...MCP_VARIABLES,
  ...MODEL_VARIABLES,
  ...WEBHOOK_VARIABLES,
  ...OTEL_VARIABLES,
} as const satisfies Record<string, z.ZodType>

const Env = z
  .object(VARIABLES)
  .refine((env) => env.CP_ARTIFACT_FOLDER === undefined || env.CP_S3_BUCKET === undefined, {
    path: ['CP_ARTIFACT_FOLDER'],
    error: 'must not stand beside CP_S3_BUCKET',
  })
  .refine((env) => env.CB_LLM_PROVIDER !== 'http' || (env.CB_LLM_URL && env.CB_LLM_MODEL), {
    path: ['CB_LLM_PROVIDER'],
    error: 'needs CB_LLM_URL and CB_LLM_MODEL',
  })
  .refine((env) => env.CP_S3_BUCKET === undefined || env.CP_S3_ACCESS_KEY_ID !== undefined, {
    path: ['CP_S3_ACCESS_KEY_ID'],
    error: 'is needed with CP_S3_BUCKET',
  })
  .refine((env) => env.CP_S3_BUCKET === undefined || env.CP_S3_SECRET_ACCESS_KEY !== undefined, {
    path: ['CP_S3_SECRET_ACCESS_KEY'],
    error: 'is needed with CP_S3_BUCKET',
  })

export type Config = Readonly<z.output<typeof Env>>

/**
 * The settings of this process, from the environment. An empty variable counts as unset. Throws
 * `StartError` with every problem at once, not at first use with one; values are not echoed, they may
 * be secrets.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = Env.safeParse(given, { error: issuePhrase })
  if (result.success) return Object.freeze(result.data)
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
  throw new StartError(`Cannot start with these settings: ${problems.join('; ')}`)
}
