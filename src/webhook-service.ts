import type { Database } from '#db/sql.ts'
import type { Notify } from '#lib/appended.ts'
import { StartError } from '#lib/start-error.ts'
import { watchJob } from '#observe/watch-job.ts'
import { blockList } from '#webhooks/networks.ts'
import { runWebhooks } from '#webhooks/run-webhooks.ts'
import type { Allowed } from '#webhooks/target.ts'
import type { Config } from './config.ts'
import { countDeliveries } from './meters.ts'
import type { Shared } from './services.ts'

/** What webhooks may call beyond https to the open internet. Throws `StartError` for what is no network. */
export function allowedTargets(config: Config): Allowed {
  const httpHosts = new Set(config.CP_WEBHOOK_HTTP_HOSTS)
  try {
    return { httpHosts, networks: blockList(config.CP_WEBHOOK_NETWORKS) }
  } catch (cause) {
    throw new StartError(
      'Cannot start: CP_WEBHOOK_NETWORKS must hold networks such as 10.1.0.0/16',
      {
        cause,
      },
    )
  }
}

/** Delivers webhooks until the signal aborts. */
export async function webhookService(
  { config, log, metrics, tracing, databases, signal }: Shared,
  db: Database,
  notify: Notify,
): Promise<void> {
  const sending = {
    db,
    limits: {
      allowed: allowedTargets(config),
      timeoutSeconds: config.CP_WEBHOOK_TIMEOUT_SECONDS,
    },
    batch: config.CP_OUTBOX_BATCH,
    maxAttempts: config.CP_OUTBOX_MAX_ATTEMPTS,
    lockSeconds: config.CP_OUTBOX_LOCK_SECONDS,
    backoff: {
      baseSeconds: config.CP_OUTBOX_BACKOFF_BASE_SECONDS,
      maxSeconds: config.CP_OUTBOX_BACKOFF_MAX_SECONDS,
    },
    notify,
    random: Math.random,
  }
  const address = databases.addressOf('control_plane')
  await runWebhooks(
    {
      sending,
      address,
      pollSeconds: config.CP_WORKER_POLL_SECONDS,
      watch: async (turn) =>
        await watchJob({ log, metrics, tracing }, 'webhooks', async () => {
          const done = await turn()
          countDeliveries(metrics, done)
          return done
        }),
      onError: (error) => log.error('Cannot look for webhooks to serve', error),
    },
    signal,
  )
}
