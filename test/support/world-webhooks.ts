import { createWebhook } from '#contract/webhooks.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { upsertDeadLetter } from '#webhooks/delivery.sql.ts'
import type { Make } from './world.ts'

/** A webhook to be removed, and one with events that were given up; no worker serves either. */
export async function makeWebhooks(
  make: Make,
  { db, ctx, marker, workspaceId }: { db: Database; ctx: Ctx; marker: string; workspaceId: string },
) {
  const add = async (name: string) => {
    const url = `https://example.com/${name}/${marker}`
    return (await make(createWebhook, { body: { url, workspaceId } })).id
  }
  const webhookId = await add('hook')
  const giveUp = async () => {
    const position = { journalEpoch: 1, txId: '1', sequence: '1' }
    const id = newId()
    const letter = { webhookId, id, eventType: 'task.created', position, attempts: 8 }
    await upsertDeadLetter(db, ctx, { ...letter, httpStatus: 500, error: `says ${marker}` })
    return id
  }
  return {
    webhook: webhookId,
    spareWebhook: await add('spare'),
    deadLetter: await giveUp(),
    secondLetter: await giveUp(),
  }
}
