import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createProject } from '#contract/projects.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { clientOf } = workClients(db)

const PRICES = { currency: 'EUR', entries: [{ model: 'large-*', input: '3', output: '15' }] }

describe('accounts on the command line', () => {
  it('show what a run used, sums by what one asks for, and what no price is known for', async (t) => {
    const { folder, tenant, say, run, json } = await adminPerson(t, db)
    const client = clientOf(tenant.key)
    assert.match((await run('usage')).err, /nothing was used/)
    assert.match((await run('prices', 'show')).err, /not_found/)
    writeFileSync(join(folder, 'prices.json'), JSON.stringify(PRICES))
    assert.match(await say('prices', 'set', 'prices.json'), /^Version 1 holds from 20/)
    assert.match(
      await say('prices', 'show'),
      /Version 1, EUR per million tokens[^]*large-\* +3 +15 /,
    )

    await say('task', 'create', 'Fix', 'it')
    await say('task', 'claim', 'TASK-000001')
    const started = await json('run', 'start', 'TASK-000001', '--max-tokens', '5000')
    assert.match((await run('usage', '--run', 'TASK-000001')).err, /nothing was reported yet/)
    const lines = [
      { model: 'large-4', provider: 'acme', input: 1000, output: 100 },
      { model: 'other', input: 7 },
    ]
    const params = { id: String(started['id']) }
    await call(client, reportUsage, { params, body: { fencingToken: 1, sequence: 1, lines } })

    const ofRun = await run('usage', '--run', 'TASK-000001')
    assert.match(ofRun.out, /acme large-4 +1100 +1000 +100 .* 0\.0045 EUR\n/)
    assert.match(ofRun.out, /all +1107 /)
    assert.match(ofRun.err, /no price is known for 7 of the tokens\ntokens left: 3893 of 5000/)
    assert.match(await say('run', 'status', 'TASK-000001'), /tokens +1107\ncost +0\.0045\n/)
    assert.match(await say('usage'), /ALL +TOKENS[^]* 1107 +1007 +100 .* 0\.0045 EUR/)
    assert.match(await say('usage', '--by', 'model'), /\nother +7 +7 .* -\n[^]*acme large-4 +1100/)
    assert.match(await say('usage', '--by', 'agent'), new RegExp(`${tenant.ctx.actorId} +1107`))
    assert.match(await say('usage', '--by', 'project'), /\(none\) +1107/)
    assert.match((await run('usage', '--to', '2020-01-01')).err, /nothing was used/)
    const whole = await json('usage', '--run', 'TASK-000001')
    assert.equal(whole['lastSequence'], 1)
    const page = await json('usage', '--by', 'day', '--model', 'other')
    assert.equal((page['items'] as { totalTokens: number }[])[0]?.totalTokens, 7)
    assert.equal((await run('usage', '--run', 'TASK-000001', '--by', 'day')).code, 2)
    assert.equal((await run('usage', '--by', 'weather')).code, 2)
  })

  it('set bounds for a principal, and show them and those of a project', async (t) => {
    const { tenant, say, run, json } = await adminPerson(t, db)
    const agent = String((await json('principal', 'create', 'Ada'))['id'])
    const set = await say(
      'budget',
      'set',
      agent,
      '--max-run-cost',
      '1.50',
      '--max-month-tokens',
      '1000',
    )
    assert.match(set, /money of each run +1\.5\n/)
    assert.match(set, new RegExp(`maxMonthTokens +principal ${agent} +1000 +0 +0 +1000`))
    const lifted = await run('budget', 'set', agent, '--max-month-tokens', 'none')
    assert.match(lifted.err, /no bound over all runs/)
    for (const wrong of ['many', '1e3', '1.5']) {
      const refused = await run('budget', 'set', agent, '--max-month-tokens', wrong)
      assert.match(refused.err, /--max-month-tokens must be a whole number, or none/)
    }
    assert.match((await run('budget', 'show')).err, /no bound over all runs/)

    const slug = `ws-${randomUUID()}`
    const { id: workspaceId } = (await json('workspace', 'create', slug)) as { id: string }
    const config = { governance: { maxTotalCost: '20' } }
    const project = await call(clientOf(tenant.key), createProject, {
      body: { workspaceId, config },
    })
    assert.match(
      await say('budget', 'show', '--project', project.id),
      new RegExp(`maxTotalCost +project ${project.id} +20 +0 +0 +20`),
    )
  })
})
