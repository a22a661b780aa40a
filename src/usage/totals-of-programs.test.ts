import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { failRun } from '#contract/runs.ts'
import { getRunUsage } from '#contract/usage-reports.ts'
import { sharedDb } from '../../test/support/db.ts'
import { spendingRun } from '../../test/support/usage.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

const thread = { mode: 'cumulative', cliSessionId: 'thread-1' } as const

function total(sequence: number, input: number, model = 'large') {
  return { ...thread, sequence, lines: [{ model, input, reportedUsd: `${input / 100}` }] }
}

function byModel(sequence: number, large: number, small: number) {
  const lines = [
    { model: 'large', input: large },
    { model: 'small', input: small },
  ]
  return { ...thread, mode: 'cumulative_by_model' as const, sequence, lines }
}

/** So many characters as JavaScript counts them, two for each of four bytes. */
function longName(length: number): string {
  return '𐍈'.repeat(length / 2)
}

function refused(loc: string) {
  return (error: { code: string; details: { errors: { loc: string }[] } }) => {
    assert.deepEqual([error.code, error.details.errors[0]?.loc], ['invalid_request', loc])
    return true
  }
}

describe('totals of a program', () => {
  it('count what they grew by, also over a resume in another run and another model', async () => {
    const { client } = await admin()
    const one = await spendingRun(client)
    await one.report(total(1, 100))
    await one.report(total(2, 250))
    await call(client, failRun, { params: one.params, body: { reason: 'cut off' } })
    const other = await spendingRun(client)
    const resumed = await other.report(total(1, 400, 'small'))

    assert.equal(resumed.usage.totalTokens, 150)
    assert.equal(resumed.usage.reportedUsd, '1.5')
    const { usage } = await call(client, getRunUsage, { params: one.params })
    assert.deepEqual([usage.totalTokens, usage.reportedUsd], [250, '2.5'])
  })

  it('that fall are those of a new session, and say so', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    const before = await report(total(1, 100))
    const after = await report(total(2, 30))
    assert.deepEqual(
      [before, after].map(({ report: { lines } }) => [
        lines[0]?.newSession,
        lines[0]?.tokens.input,
      ]),
      [
        [false, 100],
        [true, 30],
      ],
    )
    assert.equal(after.usage.totalTokens, 130)
  })

  it('that arrive in another order add up to the same', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    await report(total(3, 300))
    await report(total(1, 100))
    const { usage } = await report(total(2, 200))
    assert.deepEqual([usage.totalTokens, usage.reportedUsd], [300, '3'])
  })

  it('are of one session of one principal', async () => {
    const { tenant, client } = await admin()
    const agent = clientOf(
      (await tenant.caller(['tasks.claim', 'tasks.read', 'tasks.write', 'sessions.open'])).key,
    )
    await (await spendingRun(client)).report(total(1, 100))
    const otherSession = await (
      await spendingRun(client)
    ).report({ ...total(1, 70), cliSessionId: 'thread-2' })
    const otherAgent = await (await spendingRun(agent)).report(total(1, 50))
    assert.deepEqual([otherSession.usage.totalTokens, otherAgent.usage.totalTokens], [70, 50])
  })

  it('by model are a series for each model', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    await report(byModel(1, 100, 10))
    const { report: told } = await report(byModel(2, 150, 12))
    assert.deepEqual(
      told.lines.map(({ model, tokens }) => [model, tokens.input]),
      [
        ['large', 50],
        ['small', 2],
      ],
    )
  })

  it('need the name of their session, and are one line when they are of all models', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    const lines = [{ model: 'large' }, { model: 'small' }]
    await assert.rejects(
      report({ sequence: 1, mode: 'cumulative_by_model', lines }),
      refused('body.cliSessionId'),
    )
    await assert.rejects(report({ ...thread, sequence: 1, lines }), refused('body.lines'))
    const twice = [{ model: 'large' }, { model: 'large', provider: null }]
    await assert.rejects(report({ sequence: 1, lines: twice }), refused('body.lines'))
  })

  it('may have the longest names of four bytes a character in every mode', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    const lines = [{ provider: longName(100), model: longName(200), input: 3 }]
    const cliSessionId = longName(200)
    let sequence = 0
    for (const mode of ['delta', 'cumulative', 'cumulative_by_model'] as const) {
      sequence += 1
      const { report: told } = await report({ mode, cliSessionId, sequence, lines })
      assert.deepEqual([told.cliSessionId, told.lines[0]?.model], [cliSessionId, longName(200)])
    }
  })

  it('have names of visible text alone', async () => {
    const { client } = await admin()
    const { report } = await spendingRun(client)
    for (const model of ['two\nlines', 'turned\u202Ewords', '\u200B', ' ', '', 'a'.repeat(201)]) {
      await assert.rejects(
        report({ sequence: 1, lines: [{ model }] }),
        refused('body.lines.0.model'),
      )
    }
  })
})
