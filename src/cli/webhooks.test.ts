import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'
import { upsertDeadLetter } from '#webhooks/delivery.sql.ts'
import { newId } from '#lib/id.ts'

const db = await sharedDb()

describe('webhooks on the command line', () => {
  it('are made, shown, paused, resumed and removed; what was given up is tried again or skipped', async (t) => {
    const { tenant, say, run } = await adminPerson(t, db)
    const url = 'https://example.com/hook'
    const made = await say('webhook', 'create', url, '--type', 'task.', '--type', 'run.')
    const [, id = ''] = /^id +(\S+)\nsecret +whsec_\S+=\n$/.exec(made) ?? []
    assert.match(await say('webhook', 'list'), new RegExp(`${id} +active +0 +0 +${url}`))
    assert.match(await say('webhook', 'pause', id, '--reason', 'moving'), /paused because +moving/)
    assert.match(await say('webhook', 'resume', id), /^https:\S+: active\n/)
    const position = { journalEpoch: 1, txId: '1', sequence: '1' }
    const letter = { webhookId: id, eventType: 'task.created', position, attempts: 8 }
    const [first, second] = [newId(), newId()]
    for (const event of [first, second]) {
      await upsertDeadLetter(db, tenant.ctx, { ...letter, id: event, httpStatus: 500, error: 'no' })
    }
    assert.match(await say('webhook', 'get', id), /types +task\., run\.[^]*task\.created +8 +no/)
    assert.equal(await say('webhook', 'redrive', id, first), 'Trying 1 again\n')
    assert.equal(await say('webhook', 'redrive', id), 'Trying 2 again\n')
    assert.match(await say('webhook', 'skip', id, first), /^Skipped task\.created /)
    assert.match((await run('webhook', 'skip', id, first)).err, /not_found/)
    assert.equal(await say('webhook', 'remove', id), `Removed ${id}\n`)
    assert.match((await run('webhook', 'list')).err, /no webhooks/)
  })
})
