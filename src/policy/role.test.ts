import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from '#observe/metrics.ts'
import { jsonLog } from '#lib/log.ts'
import { otlpReceiver } from '../../test/support/otlp-receiver.ts'
import { policyFolder } from '../../test/support/policies.ts'
import { sharedDb } from '../../test/support/db.ts'
import { readConfig } from '../config.ts'
import { deciderOf } from '../identity.ts'
import { runRole } from '../roles.ts'

const log = jsonLog(
  () => {},
  () => new Date(),
)
const metrics = createMetrics()

describe('role policy', () => {
  it('answers by the policies of its folder until it is told to stop', async (t) => {
    const folder = await policyFolder(t, { 'a.cedar': 'permit (principal, action, resource);' })
    const receiver = await otlpReceiver(t)
    const ports = { CP_POLICY_PORT: '0', CP_METRICS_PORT: '0' }
    const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const config = readConfig({ CP_POLICY_FOLDER: folder, ...ports, ...collector })
    const stop = new AbortController()
    const { promise: ready, resolve } = Promise.withResolvers<string>()
    let said = ''
    const say = (message: string) => {
      said += `${message}\n`
      if (message.startsWith('Decision point is ready')) resolve(message)
    }
    const start = { config, log, metrics, say, signal: stop.signal }
    const running = runRole('policy', start)
    const url = /http:\S+/.exec(await ready)?.[0] ?? ''
    const response = await fetch(`${url}/access/v1/evaluation`, {
      method: 'POST',
      body: JSON.stringify({
        subject: { type: 'human', id: 'ann' },
        action: { name: 'tasks.read' },
        resource: { type: 'tenant', id: 't1' },
      }),
    })
    assert.deepEqual(await response.json(), { decision: true })
    await fetch(`${url}/access/v1/evaluation`, { method: 'POST', body: 'no question' })
    const [, health = '', exposition = ''] = /at (\S+\/ready) and (\S+\/metrics)/.exec(said) ?? []
    assert.equal((await fetch(health)).status, 200)
    const text = await (await fetch(exposition)).text()
    assert.match(text, /^policy_answers_total\{answer="permit"\} 1$/m)
    assert.match(text, /^policy_answers_total\{answer="refused"\} 1$/m)
    stop.abort()
    await running
    const sent = receiver.metrics().find(({ name }) => name === 'policy_answers_total')
    assert.deepEqual([sent?.service, sent?.sum?.dataPoints.length], ['strata-policy', 2])
    await assert.rejects(() => fetch(url))
  })

  it('does not start without a folder', async () => {
    const { signal } = new AbortController()
    const start = { config: readConfig({}), log, metrics, say: () => {}, signal }
    await assert.rejects(() => runRole('policy', start), /CP_POLICY_FOLDER is not set/)
  })
})

describe('policy mode', () => {
  it('does not start where no access token is accepted', async () => {
    const db = await sharedDb()
    for (const mode of ['policy', 'shadow']) {
      const config = readConfig({ CP_AUTHZ_MODE: mode })
      assert.throws(() => deciderOf({ config, metrics, log }, db), /CP_IAM_ENABLED is false/)
    }
    const config = readConfig({})
    assert.equal(deciderOf({ config, metrics, log }, db), undefined)
  })
})
