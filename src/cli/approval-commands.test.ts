import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

describe('approvals', () => {
  it('are asked for under the claim held here, listed, shown and decided by another', async (t) => {
    const { tenant, say, json, runWith, run } = await adminPerson(t, db)
    const decider = await tenant.caller(['approvals.read', 'approvals.decide'], 'human')
    const env = { CONTROL_PLANE_API_KEY: decider.key }
    const person = decider.ctx.actorId
    await say('task', 'create', 'Pay out')
    await say('task', 'claim', 'TASK-1')
    const ask = async (...more: string[]) =>
      String(
        (await json('approvals', 'request', '--task', 'TASK-1', '--person', person, ...more))['id'],
      )

    const gate = await ask('--gate', '--comment', 'May I?')
    const other = await ask()
    const third = await ask()

    assert.match(
      await say('approvals', 'list', '--status', 'pending', '--task', 'TASK-1'),
      new RegExp(`${gate} +pending +gate +May I\\?`),
    )
    const mine = await runWith({ env }, 'approvals', 'list', '--decidable', '--mine')
    for (const id of [gate, other, third]) assert.match(mine.out, new RegExp(id))
    assert.match(await say('approvals', 'get', gate), /status +pending[^]*comment +May I\?/)
    const refused = await run('approvals', 'approve', gate)
    assert.deepEqual([refused.code, /permission_denied/.test(refused.err)], [1, true])
    const yes = await runWith({ env }, 'approvals', 'approve', gate, '--comment', 'Yes')
    assert.equal(yes.out, `Approval ${gate} is approved\n`)
    const no = await runWith({ env }, 'approvals', 'reject', other)
    assert.equal(no.out, `Approval ${other} is rejected\n`)
    assert.match(await say('approvals', 'cancel', third), /is cancelled/)
    assert.match(await say('approvals', 'get', gate), /reason +Yes/)
    assert.equal((await run('approvals', 'list', '--status', 'open')).code, 2)
  })
})
