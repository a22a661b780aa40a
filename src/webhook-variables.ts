import { z } from 'zod'
import { list } from './config-kinds.ts'

const count = (fallback: number, max: number) =>
  z.coerce.number().int().min(1).max(max).default(fallback)
const seconds = (fallback: number, max = 86_400) =>
  z.coerce.number().positive().max(max).default(fallback)

/** How webhooks are delivered, and where they may lead. */
export const WEBHOOK_VARIABLES = {
  CP_OUTBOX_BATCH: count(50, 500).describe('Events sent to one webhook in one turn'),
  CP_OUTBOX_MAX_ATTEMPTS: count(8, 100).describe('Attempts before an event is given up'),
  CP_OUTBOX_LOCK_SECONDS: seconds(60).describe(
    'How long a worker that has died keeps a webhook from the others',
  ),
  CP_OUTBOX_BACKOFF_BASE_SECONDS: seconds(2).describe('First pause after a failed attempt'),
  CP_OUTBOX_BACKOFF_MAX_SECONDS: seconds(300).describe('Longest pause after failed attempts'),
  CP_WEBHOOK_TIMEOUT_SECONDS: seconds(10, 60).describe('Limit of one attempt'),
  CP_WEBHOOK_HTTP_HOSTS: list.describe(
    'Hosts, separated by commas, that webhooks may call over plain http',
  ),
  CP_WEBHOOK_NETWORKS: list.describe(
    'Networks such as 10.1.0.0/16, separated by commas, that webhooks may call although they are closed',
  ),
} as const
