import { foreign, look } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** See `TENANT_CASES`. */
export const WEBHOOK_CASES: Readonly<Record<string, Case>> = {
  createWebhook: (a) => [
    foreign({ body: { url: 'https://example.com/', workspaceId: a.workspace } }),
    foreign({ body: { url: 'https://example.com/', after: a.eventCursor } }, 'restore_detected'),
  ],
  listWebhooks: () => [look()],
  getWebhook: (a) => [foreign({ params: { id: a.webhook } })],
  updateWebhook: (a) => [
    foreign({ params: { id: a.webhook }, ifMatch: 1, body: { description: 'taken' } }),
  ],
  deleteWebhook: (a) => [foreign({ params: { id: a.spareWebhook } })],
  rotateWebhookSecret: (a) => [foreign({ params: { id: a.webhook } })],
  pauseWebhook: (a) => [foreign({ params: { id: a.webhook } })],
  resumeWebhook: (a) => [foreign({ params: { id: a.webhook } })],
  listWebhookDeliveries: (a) => [foreign({ params: { id: a.webhook } })],
  listDeadLetters: (a) => [foreign({ params: { id: a.webhook } })],
  redriveDeadLetters: (a) => [foreign({ params: { id: a.webhook } })],
  redriveDeadLetter: (a, b) => [
    foreign({ params: { id: a.webhook, eventId: a.deadLetter } }),
    foreign({ params: { id: b.webhook, eventId: a.deadLetter } }),
  ],
  skipDeadLetter: (a, b) => [
    foreign({ params: { id: a.webhook, eventId: a.deadLetter } }),
    foreign({ params: { id: b.webhook, eventId: a.secondLetter } }),
  ],
}
