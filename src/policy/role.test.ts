import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from '#observe/metrics.ts'
import { jsonLog } from '#lib/log.ts'
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
    const config = readConfig({ CP_POLICY_FOLDER: folder, CP_POLICY_PORT: '0' })
    const stop = new AbortController()
    const { promise: ready, resolve } = Promise.withResolvers<string>()
    const start = { config, log, metrics, say: resolve, signal: stop.signal }
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
    stop.abort()
    await running
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
